package runs

import (
	"context"

	"github.com/locksim/locksim/sim"
)

// A Runner runs worlds. It may be used from several goroutines at once, and runs
// as many worlds at once as it can.
type Runner interface {
	// Run runs a world, without fencing tokens and with them. An error means that the
	// world cannot be made, or that ctx is done; a lock that panics or hangs is an
	// outcome.
	Run(ctx context.Context, w World) (Outcome, error)
}

// A RunnerFunc is a function that runs worlds.
type RunnerFunc func(ctx context.Context, w World) (Outcome, error)

// Run calls the function.
func (f RunnerFunc) Run(ctx context.Context, w World) (Outcome, error) { return f(ctx, w) }

// A Worlds runs worlds, and says what happened in them.
type Worlds interface {
	Runner
	// Account is what happened in a run of a world. A run that cost its process has a break
	// and no history.
	Account(ctx context.Context, w World, fencing string) (Account, error)
	// Config is a world as package sim runs it, without fencing tokens or with them: fencing
	// is [Without] or [With].
	Config(w World, fencing string) (sim.Config, error)
}
