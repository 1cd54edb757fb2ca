package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/fakeclock"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// lateCases returns test cases in which the client is paused while the last reply to a call
// is in flight. When the call returns, much of the lease, or all of it, has passed. A lock
// must measure that time.
func lateCases() []testCase {
	return []testCase{
		conformanceCase("late/acquire", "a client is paused while the last reply to its acquire is in flight", needsExpiry, func(s *subject) (scenes []scene) {
			// After a pause of half a TTL, the client holds the lock for the other half.
			// After a pause of more than one TTL, it does not hold the lock at all.
			for _, lasts := range []float64{0.5, 1.2} {
				for nth := range 2 {
					waiter := newContender("client-2", keysExpired("client-1"), actionOf("client-1", trace.Finished))
					waiter.Works = ttls(0.5)
					scenes = append(scenes, scene{
						name:    fmt.Sprintf("%s-reply,%v-ttl", trace.Ordinal(nth+1), lasts),
						clients: []sim.Client{{Name: "client-1", Works: ttls(0.4), RetryEvery: shortRetry}, waiter},
						faults:  s.pauseAt(trace.Acquire, nth+1, lasts, trace.Alternative{Happening: actionOf("client-1", trace.Acquired)}, trace.Alternative{Happening: actionOf("client-1", trace.NotAcquired)}),
					})
				}
			}
			return scenes
		}),
		conformanceCase("late/extend", "a client is paused for more than a TTL while the last reply to its extend is in flight", allNeeds(needsExtend, needsExpiry), func(s *subject) (scenes []scene) {
			extendTwice := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				for range 2 {
					if err := p.Sleep(ttls(0.2)); err != nil {
						return err
					}
					requestedAt := monotonic(p)
					if err := extend(ctx, section); err != nil {
						break
					}
					if overdue := s.sinceLeaseEnd(p, section, requestedAt); overdue >= 0 {
						return newBreach(checks.ClaimExtends, "extend succeeded %s after the end of the lease that it granted", voice.Span(overdue))
					}
				}
				return section.Release(ctx)
			})
			// A lock that runs scripts needs more replies for its first call than for later
			// ones.
			for nth := range 4 {
				scenes = append(scenes, scene{
					name: trace.Ordinal(nth+1) + "-reply", failsOnBreach: true, clients: []sim.Client{{Name: "client-1", Run: extendTwice}},
					faults: s.pauseAt(trace.Extend, nth+1, 1.5, trace.Alternative{Nth: 2, Happening: actionOf("client-1", trace.Extended)}, trace.Alternative{Happening: actionOf("client-1", trace.Released)}),
				})
			}
			return scenes
		}),
	}
}

// pauseAt pauses client-1 for some TTLs while the nth reply of the last node is in flight.
// If the call has fewer replies, the pause begins at one of the fallbacks.
func (s *subject) pauseAt(step trace.Step, nth int, lasts float64, fallbacks ...trace.Alternative) []sim.Fault {
	reply := trace.Message{Client: "client-1", Peer: s.config.node(s.config.Nodes - 1), Step: step, Reply: true}
	return []sim.Fault{{
		Strikes: trace.Trigger{When: trace.AnyOf(append(reply.InFlight(nth).Alternatives(), fallbacks...)...)},
		For:     ttls(lasts), Action: &sim.Pause{Process: "client-1"}, Text: "pause client-1",
	}}
}

// sinceLeaseEnd returns how long ago a lease ended; it is negative while the lease lasts.
// The end is the one that the lock declares. If the lock declares none, it is one TTL after
// requestedAt, when the client asked for the lease.
func (s *subject) sinceLeaseEnd(p *sim.Program, section *sim.Section, requestedAt fakeclock.Reading) time.Duration {
	leaseEnd, declared := locks.EndOf(section.Lease())
	if !declared {
		return monotonic(p).Sub(requestedAt.Add(ttl))
	}
	if leaseEnd.Clock == fakeclock.Wall && !s.config.OwnClock { // the lock then reads time.Now
		return time.Duration(time.Now().UnixNano() - leaseEnd.Nanos)
	}
	return p.Clock().Read(leaseEnd.Clock).Sub(leaseEnd)
}
