package locktest

import (
	"context"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// repeatedReleaseCases returns the test case of a process that does not know whether its
// release has succeeded, and releases the same lease again later.
func repeatedReleaseCases() []testCase {
	return []testCase{
		conformanceCase("release-again", "a release that seemed to fail is tried again after the process has acquired the lock again", nil, func(s *subject) []scene {
			releaseAgain := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				_ = section.Release(ctx)
				secondSection, err := acquire(ctx, p, p.Lock())
				if err != nil {
					return err
				}
				_ = section.Release(ctx) // the first lease, for the second time
				// If that release has removed the key of the second lease, client-2
				// acquires the lock during this pause, and the run shows two holders.
				if err := p.Sleep(ttls(0.3)); err != nil {
					return err
				}
				return writeAndRelease(ctx, secondSection)
			})
			waiter := newContender("client-2")
			waiter.Starts = trace.AnyOf(
				trace.Alternative{Nth: 2, Happening: actionOf("client-1", trace.Acquired)},
				trace.Alternative{Happening: actionOf("client-1", trace.Finished)},
			)
			return []scene{{
				clients: []sim.Client{{Name: "client-1", Run: releaseAgain}, waiter},
				faults: faultForEach(s.nodes(), func(node string) sim.Fault {
					reply := trace.Message{Client: "client-1", Peer: node, Step: trace.Release, Reply: true}
					return sim.Fault{
						Strikes: trace.Trigger{When: trace.AnyOf(reply.InFlight(1).Alternatives()...)},
						Action:  &sim.Reset{Process: "client-1", From: node}, Text: "reset client-1 from " + node,
					}
				}),
			}}
		}),
	}
}
