package locktest

import (
	"context"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ttlCases returns test cases with a TTL that is not a whole number of seconds. A lock that rounds
// such a TTL down for the node is wrong: its lease lasts longer than its key. A lock that rounds
// the TTL up is safe. These test cases run after all others.
func ttlCases() []testCase {
	return []testCase{
		conformanceCase("ttl/fraction", "the TTL is not a whole number of seconds", allNeeds(needsExpiry, needsFractions), func(s *subject) []scene {
			return s.ttlScenes(11400 * time.Millisecond)
		}),
		conformanceCase("ttl/short", "the TTL is shorter than two seconds, or than one", allNeeds(needsRedis, needsExpiry), func(s *subject) []scene {
			return append(s.ttlScenes(1400*time.Millisecond), s.ttlScenes(400*time.Millisecond)...)
		}),
	}
}

// ttlScenes returns scenes with the TTL sceneTTL. In them the lease ends before its holder
// is done, or the holder dies, while another client tries again and again.
func (s *subject) ttlScenes(sceneTTL time.Duration) []scene {
	inTTLs := func(n float64) time.Duration { return time.Duration(n*1000) * (sceneTTL / 1000) }
	waiter := newContender("client-2", actionOf("client-1", trace.Acquired))
	waiter.RetryEvery = max(inTTLs(0.0025), 5*time.Millisecond)
	newScene := func(name string, faults []sim.Fault, run sectionBody) scene {
		return scene{
			name: sceneTTL.String() + "," + name, ttl: sceneTTL, faults: faults, progressWithin: max(inTTLs(10), 30*time.Second), horizon: max(inTTLs(30), time.Minute),
			clients: []sim.Client{{Name: "client-1", Run: acquireThen(run)}, waiter},
		}
	}
	stayAndRelease := func(ctx context.Context, p *sim.Program, section *sim.Section, n float64) error {
		if err := p.Sleep(inTTLs(n)); err != nil {
			return err
		}
		return section.Release(ctx)
	}
	triggerAfter := func(n float64) trace.Trigger {
		return trace.Trigger{When: trace.AnyOf(delayedAlternative(inTTLs(n), actionOf("client-1", trace.Acquired)))}
	}
	scenes := []scene{
		newScene("held", nil, func(ctx context.Context, p *sim.Program, section *sim.Section) error {
			return stayAndRelease(ctx, p, section, 1.3)
		}),
		newScene("holder-dies", []sim.Fault{{Strikes: triggerAfter(0.5), Action: &sim.CrashFault{Process: "client-1"}, Text: "crash client-1"}},
			func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				return stayAndRelease(ctx, p, section, 1.3)
			}),
	}
	if s.config.Extends {
		scenes = append(scenes, newScene("extended", nil, func(ctx context.Context, p *sim.Program, section *sim.Section) error {
			if err := p.Sleep(inTTLs(0.4)); err != nil {
				return err
			}
			_ = extend(ctx, section)
			return stayAndRelease(ctx, p, section, 1.3)
		}))
	}
	if s.config.Notifies {
		partition := sim.Fault{
			Strikes: triggerAfter(1.1), For: inTTLs(1.7),
			Action: &sim.Partition{Process: "client-1", From: s.nodes()}, Text: "partition client-1 from all nodes",
		}
		scenes = append(scenes, newScene("renewed", []sim.Fault{partition}, func(ctx context.Context, p *sim.Program, section *sim.Section) error {
			if _, declaresEnd := locks.EndOf(section.Lease()); !declaresEnd {
				_ = section.Release(ctx) // there is no declared end that could be later than the key's
				return p.Sleep(inTTLs(3))
			}
			return stayAndRelease(ctx, p, section, 3)
		}))
	}
	return scenes
}

// needsFractions returns why a lock cannot run the test cases with a TTL that is not a
// whole number of seconds; "" if it can.
func needsFractions(s *subject) string {
	if unit := s.config.system().Unit; unit >= time.Second {
		return "the lock's nodes count a TTL in whole units of " + unit.String()
	}
	return ""
}

// refusal returns why the lock refused the world's TTL; "" if it did not. If the lock cannot be
// made with the usual TTL either, the TTL is not the reason.
func (s *subject) refusal(w world, h *history.History) string {
	if lasts := w.config.Lock.TTL; lasts == 0 || lasts == ttl || s.cannotBeMade {
		return ""
	}
	for _, c := range h.Trace.Complaints {
		if c.Rule == trace.CannotMake {
			return "with a TTL of " + w.config.Lock.TTL.String() + ": " + c.Client + ": " + c.Why
		}
	}
	return ""
}
