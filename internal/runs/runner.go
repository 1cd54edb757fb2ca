package runs

import (
	"context"

	"github.com/locksim/locksim/sim"
)

// A Runner runs worlds. It may be used by several goroutines at the same time, and runs as
// many worlds at the same time as it can.
type Runner interface {
	// Run runs a world, without fencing tokens and with them. An error means that the world
	// cannot be made, or that ctx is done. If the lock panics or hangs, that is in the
	// result, and is no error.
	Run(ctx context.Context, w WorldSpec) (WorldResult, error)
}

// A RunnerFunc is a function that runs worlds.
type RunnerFunc func(ctx context.Context, w WorldSpec) (WorldResult, error)

// Run calls the function.
func (f RunnerFunc) Run(ctx context.Context, w WorldSpec) (WorldResult, error) { return f(ctx, w) }

// A Backend runs worlds, and can also report what happened in them.
type Backend interface {
	Runner
	// Report runs a world with or without fencing tokens, and reports what happened. If the
	// run ended its process, the report has a break and no history.
	Report(ctx context.Context, w WorldSpec, fencing string) (RunReport, error)
	// Config returns the configuration of a world for package sim, without or with fencing
	// tokens: fencing is [FencingOff] or [FencingOn].
	Config(w WorldSpec, fencing string) (sim.Config, error)
}
