package locktest

import (
	"context"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// contextCases returns test cases in which the context of a call of the lock ends before
// the call does.
func contextCases() []testCase {
	return []testCase{
		conformanceCase("contexts/cancelled-before", "the context of a call has ended before the call", needsExpiry, func(s *subject) []scene {
			acquireProgram := ignoreOtherErrors(func(ctx context.Context, p *sim.Program) error {
				section, err := p.Acquire(endedContext(ctx), p.Lock())
				if err != nil {
					return nil
				}
				return writeAndRelease(ctx, section)
			})
			extendProgram := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(0.3)); err != nil {
					return err
				}
				if extend(endedContext(ctx), section) == nil {
					if err := p.Sleep(ttls(0.8)); err != nil {
						return err
					}
				}
				return writeAndRelease(ctx, section)
			})
			releaseProgram := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := section.Write(ctx, trace.DefaultObject); err != nil {
					return err
				}
				return section.Release(endedContext(ctx))
			})
			waiter := newContender("client-2", actionOf("client-1", trace.Finished))
			scenes := []scene{
				{name: "acquire", progressWithin: ttls(1.5), clients: []sim.Client{{Name: "client-1", Run: acquireProgram}, waiter}},
				{name: "release", progressWithin: ttls(1.5), clients: []sim.Client{{Name: "client-1", Run: releaseProgram}, waiter}},
			}
			if s.config.Extends {
				scenes = append(scenes, scene{
					name: "extend", clients: []sim.Client{{Name: "client-1", Run: extendProgram}, newContender("client-2", actionOf("client-1", trace.Acquired))},
				})
			}
			return scenes
		}),
		conformanceCase("contexts/ended-meanwhile", "the context of an acquire ends while the answer is late", needsExpiry, func(s *subject) (scenes []scene) {
			// A lock that runs a script may need two replies for its first call: the node
			// does not know the script at first.
			for nth := range 2 {
				reply := func(node string) trace.Message {
					return trace.Message{Client: "client-1", Peer: node, Step: trace.Acquire, Reply: true}
				}
				hold := faultForEach(s.nodes(), func(node string) sim.Fault {
					return sim.Fault{
						For: ttls(0.3), Action: &sim.Hold{Message: trace.NthMessage{Message: reply(node), Nth: nth + 1}},
						Text: "hold " + node + "'s reply",
					}
				})
				cancel := sim.Fault{
					Strikes: trace.Trigger{When: reply(s.nodes()[0]).InFlight(nth + 1)},
					Action:  &sim.Cancel{Client: "client-1"}, Text: "cancel client-1",
				}
				name := trace.Ordinal(nth+1) + "-reply"
				for _, contextEnd := range []struct {
					name     string
					deadline time.Duration // 0 is none
					faults   []sim.Fault
				}{{"deadline", ttls(0.03), hold}, {"cancelled", 0, append(slices.Clone(hold), cancel)}} {
					scenes = append(scenes, scene{name: name + "," + contextEnd.name, faults: contextEnd.faults, clients: []sim.Client{
						{Name: "client-1", Run: retryUnderDeadline(contextEnd.deadline)}, newContender("client-2", actionOf("client-1", trace.NotAcquired), actionOf("client-1", trace.Finished)),
					}})
				}
			}
			return scenes
		}),
		conformanceCase("contexts/deadline", "the deadline of a call passes while no node answers", nil, func(s *subject) []scene {
			acquireProgram := ignoreOtherErrors(func(ctx context.Context, p *sim.Program) error {
				return callWithDeadline(ctx, p, trace.Acquire, func(ctx context.Context) error {
					_, err := p.Acquire(ctx, p.Lock())
					return err
				})
			})
			extendProgram := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				return callWithDeadline(ctx, p, trace.Extend, func(ctx context.Context) error { return extend(ctx, section) })
			})
			releaseProgram := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				return callWithDeadline(ctx, p, trace.Release, section.Release)
			})
			newSilentScene := func(step trace.Step, run program) scene {
				return scene{
					name: string(step), failsOnBreach: true, clients: []sim.Client{{Name: "client-1", Run: run}},
					faults: []sim.Fault{{
						Strikes: trace.Trigger{Before: trace.StepPoint{Client: "client-1", Step: step}}, For: 3 * maxOverrun,
						Action: &sim.Partition{Process: "client-1", From: s.nodes()},
						Text:   "partition client-1 from all nodes",
					}},
				}
			}
			scenes := []scene{newSilentScene(trace.Acquire, acquireProgram), newSilentScene(trace.Release, releaseProgram)}
			if s.config.Extends {
				scenes = append(scenes, newSilentScene(trace.Extend, extendProgram))
			}
			return scenes
		}),
	}
}

// retryUnderDeadline returns a program that asks for the lock three times under a deadline,
// and then without one until it acquires the lock. A deadline of 0 is none.
func retryUnderDeadline(deadline time.Duration) program {
	return ignoreOtherErrors(func(ctx context.Context, p *sim.Program) error {
		for range 3 {
			attemptContext, cancel := ctx, func() {}
			if deadline > 0 {
				attemptContext, cancel = withTimeout(ctx, p, deadline)
			}
			section, err := p.Acquire(attemptContext, p.Lock())
			cancel()
			if err == nil {
				_ = section.Release(ctx)
			}
			if err := p.Sleep(ttls(0.05)); err != nil {
				return err
			}
		}
		section, err := acquire(ctx, p, p.Lock())
		if err != nil {
			return err
		}
		return writeAndRelease(ctx, section)
	})
}

// maxOverrun is how long a call of the lock may take after its deadline.
const maxOverrun = time.Minute

// callWithDeadline calls the lock with a deadline. It returns a breach, which means that
// the lock broke a rule, if the call returns more than maxOverrun after the deadline.
func callWithDeadline(ctx context.Context, p *sim.Program, step trace.Step, call func(context.Context) error) error {
	const deadline = ttl / 10
	shortContext, cancel := withTimeout(ctx, p, deadline)
	defer cancel()
	began := monotonic(p)
	err := call(shortContext)
	if took := monotonic(p).Sub(began); took > deadline+maxOverrun {
		return newBreach(checks.Hang, "%s was called with a deadline in %v and returned after %s", step, deadline, voice.Span(took))
	}
	return err
}

// endedContext returns a context that has already ended.
func endedContext(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
