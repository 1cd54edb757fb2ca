package locktest

import (
	"context"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// releaseCases returns the test case in which a lease is released long after it was
// acquired, or after the context of acquire has ended. Nothing else is unusual, so no
// release may fail.
func releaseCases() []testCase {
	return []testCase{
		conformanceCase("releases", "a lease is released long after acquire has returned", nil, func(s *subject) []scene {
			holdLong := holdFor(0.9, false)
			scenes := []scene{
				// The second client may wait in its call of acquire for as long as the
				// first one holds the lock.
				{name: "late", clients: []sim.Client{
					{Name: "client-1", Run: holdLong},
					{Name: "client-2", Run: holdLong, Starts: whenAny(actionOf("client-1", trace.Acquired))},
				}},
				{name: "context-ended", clients: []sim.Client{
					{Name: "client-1", Run: holdFor(0.5, true)}, newContender("client-2", actionOf("client-1", trace.Acquired)),
				}},
			}
			if s.config.Notifies { // the lock may renew its leases by itself
				scenes = append(scenes, scene{name: "renewed", clients: []sim.Client{
					{Name: "client-1", Run: holdFor(3.3, false)}, newContender("client-2", actionOf("client-1", trace.Acquired)),
				}})
			}
			return scenes
		}),
	}
}

// holdFor returns a program that holds the lock for n TTLs, writes and releases the lock.
// If endsContext, the context of acquire ends as soon as acquire has returned. A lock must
// accept that: the context limits the call, not the lease.
func holdFor(n float64, endsContext bool) program {
	return ignoreOtherErrors(func(ctx context.Context, p *sim.Program) error {
		acquireContext, cancel := context.WithCancel(ctx)
		if endsContext { // a lock must not take what is left of the deadline for the TTL
			acquireContext, cancel = withTimeout(ctx, p, ttls(0.3))
		}
		defer cancel()
		section, err := acquire(acquireContext, p, p.Lock())
		if err != nil {
			return err
		}
		if endsContext {
			cancel()
		}
		if err := p.Sleep(ttls(n)); err != nil {
			return err
		}
		return writeAndRelease(ctx, section)
	})
}
