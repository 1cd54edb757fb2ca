package locktest

import (
	"context"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// lossCases returns test cases in which a lease ends before its holder is done. It expires,
// or all nodes lose its keys. To make the nodes lose keys, their clocks are set forward. A
// crash would also cut the nodes' connections.
func lossCases() []testCase {
	return []testCase{
		conformanceCase("loss/extend", "a lease is extended after it was lost", all(needsExtend, needsEnd), func(s *subject) []scene {
			// If no other client asks for the lock, a wrong extend violates no exclusion.
			// But it is still wrong: an extend that succeeds confirms that the holder has
			// held the lock all the time, which the lock cannot know.
			late := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(0.5)); err != nil {
					return err
				}
				if extend(ctx, in) == nil {
					return breach(checks.ClaimExtends, "extend succeeded though the nodes had lost the lease's keys")
				}
				return in.Release(ctx)
			})
			// Whether this extend may succeed depends on what another client does in the
			// meantime, so the property lease-exclusion judges it.
			expired := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(1.5)); err != nil {
					return err
				}
				_ = extend(ctx, in)
				if err := p.Sleep(ttls(0.1)); err != nil {
					return err
				}
				return in.Release(ctx)
			})
			within := another("client-2", keysExpired("client-1"), did("client-1", trace.Finished))
			within.Works = ttls(0.8)
			return s.dropForgetful([]scene{
				{name: "lost", countsBreaches: true, faults: s.loseKeys(), clients: []sim.Client{{Name: "client-1", Run: late}}},
				{name: "lost,another-came-and-went", countsBreaches: true, faults: s.loseKeys(), clients: []sim.Client{
					{Name: "client-1", Run: late}, afterLoss(another("client-2")),
				}},
				{name: "expired,another-came-and-went", clients: []sim.Client{
					{Name: "client-1", Run: expired}, another("client-2", keysExpired("client-1"), did("client-1", trace.Finished)),
				}},
				{name: "expired,another-is-in", clients: []sim.Client{{Name: "client-1", Run: expired}, within}},
			})
		}),
		conformanceCase("loss/release", "a lease is released after it was lost", needsEnd, func(s *subject) []scene {
			late := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(1.5)); err != nil {
					return err
				}
				return in.Release(ctx)
			})
			twice := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(0.1)); err != nil {
					return err
				}
				_ = in.Release(ctx)
				if err := p.Sleep(ttls(0.5)); err != nil {
					return err
				}
				return in.Release(ctx)
			})
			afterExtend := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(1.5)); err != nil {
					return err
				}
				if s.config.Extends {
					_ = extend(ctx, in)
				}
				return in.Release(ctx)
			})
			within := another("client-2", keysExpired("client-1"), did("client-1", trace.Released))
			within.Works = ttls(0.8)
			third := another("client-3", did("client-2", trace.Acquired))
			clients := func(run program) []sim.Client { return []sim.Client{{Name: "client-1", Run: run}, within, third} }
			return []scene{
				{name: "expired", clients: clients(late)},
				{name: "released-twice", clients: clients(twice)},
				{name: "after-a-failed-extend", clients: clients(afterExtend)},
			}
		}),
		conformanceCase("loss/notice", "a holder is notified that its lease is lost", all(needsNotice, needsEnd, needsForgetful), func(s *subject) []scene {
			checksNotice := func(after float64, what string) program {
				return holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
					if err := p.Sleep(ttls(after + 1)); err != nil {
						return err
					}
					if yes, can := isLossNotified(in); can && !yes {
						return breach(checks.ClaimNotifies, "%s, and it was not told within one TTL", what)
					}
					return writeAndRelease(ctx, in)
				})
			}
			return []scene{
				{
					name: "lost", countsBreaches: true, faults: s.loseKeys(),
					clients: []sim.Client{{Name: "client-1", Run: checksNotice(lostAfter, "the nodes lost its lease's keys")}},
				},
				{
					// A lock may renew the lease before the other client asks. Then the
					// lease is not lost, the other client cannot acquire the lock, and this
					// scene shows nothing.
					name: "taken", countsBreaches: true, faults: s.loseKeys(),
					clients: []sim.Client{
						{Name: "client-1", Run: checksNotice(lostAfter+0.1, "another client got the lock")},
						afterLoss(sim.Client{Name: "client-2", Works: ttls(0.5), RetryEvery: shortRetry}),
					},
				},
			}
		}),
	}
}

// lossDelayTTLs is how many TTLs after a grant the nodes lose the grant's keys.
const lostAfter = 0.2

// dropClockFaultScenes leaves out the scenes with faults of the nodes' clocks, if such
// faults cannot make this kind of node lose a grant.
func (s *subject) dropForgetful(all []scene) []scene {
	if needsForgetful(s) == "" {
		return all
	}
	return slices.DeleteFunc(all, func(sc scene) bool { return len(sc.faults) > 0 })
}

// needsClockLoss is for test cases in which nodes lose a grant because their clocks are
// set.
func needsForgetful(s *subject) string {
	if system, _ := sim.LookupSystem(s.config.System); system.UsesElapsedTime {
		return "the lock's nodes measure elapsed time: setting their clocks does not make them lose a grant"
	}
	return ""
}

// loseKeys makes every node lose client-1's keys: its clock is set forward, and almost
// immediately back again. It is set back because some locks compute by their own clocks
// when a key expires on the node. For such a lock the node's clock must be right again. It
// is not set back if the keys would then return.
func (s *subject) loseKeys() (faults []sim.Fault) {
	for _, jump := range []struct {
		after float64
		by    time.Duration
		way   string
	}{{lostAfter, 3 * ttl, "forward"}, {lostAfter + 0.001, -3 * ttl, "back"}} {
		if jump.by < 0 && s.config.system().RevivesKeys {
			continue
		}
		faults = append(faults, onEach(s.nodes(), func(name string) sim.Fault {
			return sim.Fault{
				Strikes: trace.Trigger{When: trace.AnyOf(after(ttls(jump.after), did("client-1", trace.Acquired)))},
				Action:  &sim.Jump{Process: name, By: jump.by},
				Text:    "set the clock of " + name + " " + jump.way,
			}
		})...)
	}
	return faults
}

// startAfterLoss returns the client c with a start after the nodes have lost client-1's
// keys.
func afterLoss(c sim.Client) sim.Client {
	c.Starts = trace.AnyOf(
		after(ttls(lostAfter+0.01), did("client-1", trace.Acquired)),
		trace.Clause{Happening: did("client-1", trace.Finished)},
	)
	return c
}
