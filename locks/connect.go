package locks

import "context"

// Connect has every client that was opened so far, and those of the counters,
// make its connection, one after the other, as those of a process that has been
// running for a while have. A client that fails is one that its lock or its token
// source will meet again.
func (e *Env) Connect(ctx context.Context) {
	e.counters()
	for _, c := range e.opened {
		c.Ping(ctx)
	}
}
