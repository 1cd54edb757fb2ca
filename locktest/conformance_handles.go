package locktest

import (
	"context"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// handleCases returns the test case in which one process uses the lock in two places.
func handleCases() []testCase {
	return []testCase{
		conformanceCase("handles", "one process asks for the lock that it already holds", nil, func(*subject) []scene {
			clients := func(newHandle func(*sim.Program) (locks.Lock, error)) []sim.Client {
				return []sim.Client{{Name: "client-1", Run: acquireTwice(newHandle)}, newContender("client-2", actionOf("client-1", trace.Acquired))}
			}
			return []scene{
				{name: "two", failsOnBreach: true, clients: clients((*sim.Program).NewLock)},
				{name: "one", failsOnBreach: true, clients: clients(func(p *sim.Program) (locks.Lock, error) { return p.Lock(), nil })},
			}
		}),
	}
}

// acquireTwice returns a program that acquires the lock and, while it holds the lock, asks for it
// again by another handle. The second attempt must fail. After the release the other handle must
// get the lock. newHandle returns the other handle, which may be the first one itself.
func acquireTwice(newHandle func(*sim.Program) (locks.Lock, error)) program {
	return ignoreOtherErrors(func(ctx context.Context, p *sim.Program) error {
		second, err := newHandle(p)
		if err != nil {
			return newBreach(checks.CannotBeMade, "a second handle: %v", err)
		}
		section, err := acquire(ctx, p, p.Lock())
		if err != nil {
			return err
		}
		// A lock may send commands after acquire has returned. The trace attributes them to the
		// client's latest acquisition. So the program waits until they are done before it asks
		// again.
		if err := p.Sleep(ttls(0.05)); err != nil {
			return err
		}
		for range 2 {
			shortContext, cancel := withTimeout(ctx, p, ttls(0.2))
			_, err := p.Acquire(shortContext, second)
			cancel()
			if err == nil {
				return nil // both leases are held, which violates the property lease-exclusion
			}
			// If the second attempt has removed the first lease's key, client-2 acquires the lock
			// during this wait, and the run shows two holders.
			if err := p.Sleep(ttls(0.1)); err != nil {
				return err
			}
		}
		if err := writeAndRelease(ctx, section); err != nil {
			return err
		}
		if section, err = acquire(ctx, p, second); err != nil {
			return err
		}
		return writeAndRelease(ctx, section)
	})
}
