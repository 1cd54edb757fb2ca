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
		conformanceCase("contexts/cancelled-before", "the context of a call has ended before the call", needsEnd, func(s *subject) []scene {
			acquires := onlyBreaches(func(ctx context.Context, p *sim.Program) error {
				in, err := p.Acquire(endedContext(ctx), p.Lock())
				if err != nil {
					return nil
				}
				return writeAndRelease(ctx, in)
			})
			extends := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := p.Sleep(ttls(0.3)); err != nil {
					return err
				}
				if extend(endedContext(ctx), in) == nil {
					if err := p.Sleep(ttls(0.8)); err != nil {
						return err
					}
				}
				return writeAndRelease(ctx, in)
			})
			releases := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				if err := in.Write(ctx, trace.DefaultObject); err != nil {
					return err
				}
				return in.Release(endedContext(ctx))
			})
			next := another("client-2", did("client-1", trace.Finished))
			scenes := []scene{
				{name: "acquire", progressWithin: ttls(1.5), clients: []sim.Client{{Name: "client-1", Run: acquires}, next}},
				{name: "release", progressWithin: ttls(1.5), clients: []sim.Client{{Name: "client-1", Run: releases}, next}},
			}
			if s.config.Extends {
				scenes = append(scenes, scene{
					name: "extend", clients: []sim.Client{{Name: "client-1", Run: extends}, another("client-2", did("client-1", trace.Acquired))},
				})
			}
			return scenes
		}),
		conformanceCase("contexts/ended-meanwhile", "the context of an acquire ends while the answer is late", needsEnd, func(s *subject) (scenes []scene) {
			// A lock that runs a script may need two replies for its first call: the node
			// does not know the script at first.
			for nth := range 2 {
				reply := func(node string) trace.Message {
					return trace.Message{Client: "client-1", Peer: node, Step: trace.Acquire, Reply: true}
				}
				hold := onEach(s.nodes(), func(node string) sim.Fault {
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
				for _, how := range []struct {
					name     string
					deadline time.Duration // 0 is none
					faults   []sim.Fault
				}{{"deadline", ttls(0.03), hold}, {"cancelled", 0, append(slices.Clone(hold), cancel)}} {
					scenes = append(scenes, scene{name: name + "," + how.name, faults: how.faults, clients: []sim.Client{
						{Name: "client-1", Run: retryUnderDeadline(how.deadline)}, another("client-2", did("client-1", trace.NotAcquired), did("client-1", trace.Finished)),
					}})
				}
			}
			return scenes
		}),
		conformanceCase("contexts/deadline", "the deadline of a call passes while no node answers", nil, func(s *subject) []scene {
			acquires := onlyBreaches(func(ctx context.Context, p *sim.Program) error {
				return callWithDeadline(ctx, p, trace.Acquire, func(ctx context.Context) error {
					_, err := p.Acquire(ctx, p.Lock())
					return err
				})
			})
			extends := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				return callWithDeadline(ctx, p, trace.Extend, func(ctx context.Context) error { return extend(ctx, in) })
			})
			releases := holding(func(ctx context.Context, p *sim.Program, in *sim.Section) error {
				return callWithDeadline(ctx, p, trace.Release, in.Release)
			})
			silent := func(step trace.Step, run program) scene {
				return scene{
					name: string(step), countsBreaches: true, clients: []sim.Client{{Name: "client-1", Run: run}},
					faults: []sim.Fault{{
						Strikes: trace.Trigger{Before: trace.StepPoint{Client: "client-1", Step: step}}, For: 3 * maxOverrun,
						Action: &sim.Partition{Process: "client-1", From: s.nodes()},
						Text:   "partition client-1 from all nodes",
					}},
				}
			}
			scenes := []scene{silent(trace.Acquire, acquires), silent(trace.Release, releases)}
			if s.config.Extends {
				scenes = append(scenes, silent(trace.Extend, extends))
			}
			return scenes
		}),
	}
}

// retryUnderDeadline returns a program that asks for the lock three times under a deadline,
// and then without one until it acquires the lock. A deadline of 0 is none.
func retryUnderDeadline(deadline time.Duration) program {
	return onlyBreaches(func(ctx context.Context, p *sim.Program) error {
		for range 3 {
			attempt, cancel := ctx, func() {}
			if deadline > 0 {
				attempt, cancel = bounded(ctx, p, deadline)
			}
			in, err := p.Acquire(attempt, p.Lock())
			cancel()
			if err == nil {
				_ = in.Release(ctx)
			}
			if err := p.Sleep(ttls(0.05)); err != nil {
				return err
			}
		}
		in, err := acquire(ctx, p, p.Lock())
		if err != nil {
			return err
		}
		return writeAndRelease(ctx, in)
	})
}

// maxOverrun is how long a call of the lock may take after its deadline.
const maxOverrun = time.Minute

// callWithDeadline calls the lock with a deadline. It returns a breach, which means that
// the lock broke a rule, if the call returns more than maxOverrun after the deadline.
func callWithDeadline(ctx context.Context, p *sim.Program, step trace.Step, call func(context.Context) error) error {
	const deadline = ttl / 10
	short, cancel := bounded(ctx, p, deadline)
	defer cancel()
	began := monotonic(p)
	err := call(short)
	if took := monotonic(p).Sub(began); took > deadline+maxOverrun {
		return breach(checks.Hang, "%s was called with a deadline in %v and returned after %s", step, deadline, voice.Span(took))
	}
	return err
}

// endedContext returns a context that has already ended.
func endedContext(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
