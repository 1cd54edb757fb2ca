package locktest

import (
	"context"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// lossCases returns test cases in which a lease ends before its holder is done. It expires,
// or all nodes lose its keys. To make the nodes lose keys, their clocks are set forward. A
// crash would also cut the nodes' connections.
func lossCases() []testCase {
	return []testCase{
		conformanceCase("loss/extend", "a lease is extended after it was lost", allNeeds(needsExtend, needsExpiry), func(s *subject) []scene {
			// If no other client asks for the lock, a wrong extend violates no exclusion.
			// But it is still wrong: an extend that succeeds confirms that the holder has
			// held the lock all the time, which the lock cannot know.
			extendAfterLoss := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(0.5)); err != nil {
					return err
				}
				before, declares := locks.EndOf(section.Lease())
				if extend(ctx, section) == nil {
					return newBreach(checks.ClaimExtends, "extend succeeded though the nodes had lost the lease's keys")
				}
				if after, _ := locks.EndOf(section.Lease()); declares && after.Clock == before.Clock && after.Sub(before) > 0 {
					return newBreach(checks.ClaimExtends, "extend failed, and yet Expires then returned an end that is %s later than before", voice.Span(after.Sub(before)))
				}
				return section.Release(ctx)
			})
			// Whether this extend is allowed to succeed depends on what another client has done
			// in the meantime. So the property lease-exclusion judges the extend.
			extendAfterExpiry := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(1.5)); err != nil {
					return err
				}
				_ = extend(ctx, section)
				if err := p.Sleep(ttls(0.1)); err != nil {
					return err
				}
				return section.Release(ctx)
			})
			nextHolder := newContender("client-2", keysExpired("client-1"), actionOf("client-1", trace.Finished))
			nextHolder.Works = ttls(0.8)
			return s.dropClockFaultScenes([]scene{
				{name: "lost", failsOnBreach: true, faults: s.loseKeys(), clients: []sim.Client{{Name: "client-1", Run: extendAfterLoss}}},
				{name: "lost,another-came-and-went", failsOnBreach: true, faults: s.loseKeys(), clients: []sim.Client{
					{Name: "client-1", Run: extendAfterLoss}, startAfterLoss(newContender("client-2")),
				}},
				{name: "expired,another-came-and-went", clients: []sim.Client{
					{Name: "client-1", Run: extendAfterExpiry}, newContender("client-2", keysExpired("client-1"), actionOf("client-1", trace.Finished)),
				}},
				{name: "expired,another-is-in", clients: []sim.Client{{Name: "client-1", Run: extendAfterExpiry}, nextHolder}},
			})
		}),
		conformanceCase("loss/release", "a lease is released after it was lost", needsExpiry, func(s *subject) []scene {
			releaseAfterExpiry := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(1.5)); err != nil {
					return err
				}
				return section.Release(ctx)
			})
			releaseTwice := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(0.1)); err != nil {
					return err
				}
				_ = section.Release(ctx)
				if err := p.Sleep(ttls(0.5)); err != nil {
					return err
				}
				return section.Release(ctx)
			})
			afterExtend := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(1.5)); err != nil {
					return err
				}
				if s.config.Extends {
					_ = extend(ctx, section)
				}
				return section.Release(ctx)
			})
			nextHolder := newContender("client-2", keysExpired("client-1"), actionOf("client-1", trace.Released))
			nextHolder.Works = ttls(0.8)
			thirdClient := newContender("client-3", actionOf("client-2", trace.Acquired))
			clients := func(run program) []sim.Client {
				return []sim.Client{{Name: "client-1", Run: run}, nextHolder, thirdClient}
			}
			return []scene{
				{name: "expired", clients: clients(releaseAfterExpiry)},
				{name: "released-twice", clients: clients(releaseTwice)},
				{name: "after-a-failed-extend", clients: clients(afterExtend)},
			}
		}),
		conformanceCase("loss/notice", "a holder is notified that its lease is lost", allNeeds(needsNotification, needsExpiry, needsClockLoss), func(s *subject) []scene {
			expectNotification := func(after float64, what string) program {
				return acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
					if err := p.Sleep(ttls(after + 1)); err != nil {
						return err
					}
					if isNotified, canNotify := isLossNotified(section); canNotify && !isNotified {
						return newBreach(checks.ClaimNotifies, "%s, and the holder was not notified within one TTL", what)
					}
					return writeAndRelease(ctx, section)
				})
			}
			return []scene{
				{
					name: "lost", failsOnBreach: true, faults: s.loseKeys(),
					clients: []sim.Client{{Name: "client-1", Run: expectNotification(lossDelayTTLs, "the nodes lost the lease's keys")}},
				},
				{
					// A lock may renew the lease before the other client asks. Then the lease
					// is not lost, the other client cannot acquire the lock, and this scene
					// finds no mistake.
					name: "taken", failsOnBreach: true, faults: s.loseKeys(),
					clients: []sim.Client{
						{Name: "client-1", Run: expectNotification(lossDelayTTLs+0.1, "another client acquired the lock")},
						startAfterLoss(sim.Client{Name: "client-2", Works: ttls(0.5), RetryEvery: shortRetry}),
					},
				},
			}
		}),
	}
}

// lossDelayTTLs is how many TTLs after a grant the nodes lose the grant's keys.
const lossDelayTTLs = 0.2

// dropClockFaultScenes leaves out the scenes with faults of the nodes' clocks, if such
// faults cannot make this kind of node lose a grant.
func (s *subject) dropClockFaultScenes(all []scene) []scene {
	if needsClockLoss(s) == "" {
		return all
	}
	return slices.DeleteFunc(all, func(sc scene) bool { return len(sc.faults) > 0 })
}

// needsClockLoss returns why a lock cannot run the test cases that make nodes lose a grant
// by setting their clocks forward; "" if it can.
func needsClockLoss(s *subject) string {
	if system, _ := sim.LookupSystem(s.config.System); system.UsesElapsedTime {
		return "the lock's nodes measure elapsed time: setting their clocks does not make them lose a grant"
	}
	return ""
}

// loseKeys makes every node lose client-1's keys: the node's clock is set forward, and
// almost immediately back again. It is set back because some locks compute, by the clock of
// their client, the time of day at which a key expires on the node. For such a lock the two
// clocks must agree again. The node's clock is not set back if the keys would then return.
func (s *subject) loseKeys() (faults []sim.Fault) {
	for _, jump := range []struct {
		after float64
		by    time.Duration
		way   string
	}{{lossDelayTTLs, 3 * ttl, "forward"}, {lossDelayTTLs + 0.001, -3 * ttl, "back"}} {
		if jump.by < 0 && s.config.system().RevivesKeys {
			continue
		}
		faults = append(faults, faultForEach(s.nodes(), func(name string) sim.Fault {
			return sim.Fault{
				Strikes: trace.Trigger{When: trace.AnyOf(delayedAlternative(ttls(jump.after), actionOf("client-1", trace.Acquired)))},
				Action:  &sim.Jump{Process: name, By: jump.by},
				Text:    "set the clock of " + name + " " + jump.way,
			}
		})...)
	}
	return faults
}

// startAfterLoss returns the client c with a start after the nodes have lost client-1's
// keys, or when client-1 has finished if that is earlier.
func startAfterLoss(c sim.Client) sim.Client {
	c.Starts = trace.AnyOf(
		delayedAlternative(ttls(lossDelayTTLs+0.01), actionOf("client-1", trace.Acquired)),
		trace.Alternative{Happening: actionOf("client-1", trace.Finished)},
	)
	return c
}
