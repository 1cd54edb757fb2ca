package locktest

import (
	"context"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ttlCases returns test cases with a TTL that is not a whole number of seconds. A lock that
// rounds it down for the node is wrong: its lease lasts longer than its key. A lock that
// rounds it up is safe. These test cases run after all others.
func ttlCases() []testCase {
	return []testCase{
		conformanceCase("ttl/fraction", "the TTL is not a whole number of seconds", all(needsEnd, needsFractions), func(s *subject) []scene {
			return s.ttlScenes(11400 * time.Millisecond)
		}),
		conformanceCase("ttl/short", "the TTL is shorter than two seconds, or than one", all(needsRedis, needsEnd), func(s *subject) []scene {
			return append(s.ttlScenes(1400*time.Millisecond), s.ttlScenes(400*time.Millisecond)...)
		}),
	}
}

// ttlScenes returns scenes with the TTL sceneTTL. In them the lease ends before its holder
// is done, or the holder dies, while another client tries again and again.
func (s *subject) ttlScenes(term time.Duration) []scene {
	times := func(n float64) time.Duration { return time.Duration(n*1000) * (term / 1000) }
	eager := another("client-2", did("client-1", trace.Acquired))
	eager.RetryEvery = max(times(0.0025), 5*time.Millisecond)
	worldOf := func(name string, faults []sim.Fault, run holder) scene {
		return scene{
			name: term.String() + "," + name, ttl: term, faults: faults, progressWithin: max(times(10), 30*time.Second), horizon: max(times(30), time.Minute),
			clients: []sim.Client{{Name: "client-1", Run: holding(run)}, eager},
		}
	}
	stays := func(ctx context.Context, p *sim.Program, in *sim.Section, n float64) error {
		if err := p.Sleep(times(n)); err != nil {
			return err
		}
		return in.Release(ctx)
	}
	since := func(n float64) trace.Trigger {
		return trace.Trigger{When: trace.AnyOf(after(times(n), did("client-1", trace.Acquired)))}
	}
	scenes := []scene{
		worldOf("held", nil, func(ctx context.Context, p *sim.Program, in *sim.Section) error { return stays(ctx, p, in, 1.3) }),
		worldOf("holder-dies", []sim.Fault{{Strikes: since(0.5), Action: &sim.CrashFault{Process: "client-1"}, Text: "crash client-1"}},
			func(ctx context.Context, p *sim.Program, in *sim.Section) error { return stays(ctx, p, in, 1.3) }),
	}
	if s.config.Extends {
		scenes = append(scenes, worldOf("extended", nil, func(ctx context.Context, p *sim.Program, in *sim.Section) error {
			if err := p.Sleep(times(0.4)); err != nil {
				return err
			}
			_ = extend(ctx, in)
			return stays(ctx, p, in, 1.3)
		}))
	}
	if s.config.Notifies {
		cut := sim.Fault{
			Strikes: since(1.1), For: times(1.7),
			Action: &sim.Partition{Process: "client-1", From: s.nodes()}, Text: "partition client-1 from all nodes",
		}
		scenes = append(scenes, worldOf("renewed", []sim.Fault{cut}, func(ctx context.Context, p *sim.Program, in *sim.Section) error {
			if _, declares := in.Lease().(locks.Expirer); !declares {
				_ = in.Release(ctx) // there is no declared end that could be later than the key's
				return p.Sleep(times(3))
			}
			return stays(ctx, p, in, 3)
		}))
	}
	return scenes
}

// needsFractions is for test cases with a TTL that is not a whole number of seconds.
func needsFractions(s *subject) string {
	if unit := s.config.system().Unit; unit >= time.Second {
		return "the lock's nodes count a TTL in whole units of " + unit.String()
	}
	return ""
}

// refusal returns why the lock refused the world's TTL, if it may; "" if it did not.
func refusal(w world, h *history.History) string {
	for _, c := range h.Trace.Complaints {
		if w.mayRefuseTTL && c.Rule == trace.CannotMake {
			return "with a TTL of " + w.config.Lock.TTL.String() + ": " + c.Client + ": " + c.Why
		}
	}
	return ""
}
