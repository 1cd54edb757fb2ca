package explore

import "context"

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
