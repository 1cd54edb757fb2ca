package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// usualLatency is the longest time that a message takes in a workload, unless the lock's
// timeouts are too short for it.
const usualLatency = time.Millisecond

// workloads returns the workloads in which the lock is explored: those that locksim explore
// has for every lock, and the workload errands, in which one client runs a Go program.
// takeover is how long another client waits for a crashed holder (see [explore.Lock]). The
// usual latencies are divided by divisor.
func (s *subject) workloads(seed uint64, takeover, divisor time.Duration) []explore.Base {
	name := explore.RegisteredOn(s.config.System)
	lock := explore.Lock{
		Name: name, Kind: s.kind, Nodes: s.config.Nodes, TTL: ttl, Takeover: takeover, Extends: s.config.Extends, Seed: seed,
		Latency: fmt.Sprintf("%v-%v", 600*time.Microsecond/divisor, usualLatency/divisor),
	}
	// Both clients give up at some time, because after some faults no answer ever comes.
	waits := scenarios.Fields{{Name: "gives-up", Value: ttls(0.3).String()}, {Name: "cancels-after", Value: ttls(2.5).String()}}
	starts := whenAny(keysExpired("client-1"), actionOf("client-1", trace.Released), actionOf("client-1", trace.Crashed), actionOf("client-1", trace.Finished))
	errands := explore.Base{Takeover: takeover, Base: runs.Base{
		Name: "errands", Kind: s.kind, Seed: seed, Programs: map[string]runs.Program{"client-1": s.errands},
		Text: scenarios.Fields{
			{Name: "title", Value: "one client asks for the lock that it already holds, releases it twice, and stays in its section for too long"},
			{Name: "lock", Value: scenarios.Fields{{Name: "kind", Value: name}, {Name: "nodes", Value: s.config.Nodes}, {Name: "ttl", Value: ttl.String()}}},
			{Name: "clients", Value: scenarios.Fields{
				{Name: "client-1", Value: waits},
				{Name: "client-2", Value: append(waits,
					scenarios.Field{Name: "starts", Value: starts.String()},
					scenarios.Field{Name: "works", Value: ttls(0.9).String()},
					scenarios.Field{Name: "retry-every", Value: ttls(0.1).String()},
				)},
			}},
			{Name: "horizon", Value: (15 * max(ttl, takeover)).String()},
			{Name: "progress-within", Value: (5 * max(ttl, takeover)).String()},
			{Name: "network", Value: scenarios.Fields{{Name: "latency", Value: lock.Latency}}},
		}.Document(),
	}}
	return append(lock.Bases(explore.Kinds{}), errands)
}

// errands is the program of a client that uses the lock as careless programs do: it
// acquires the lock twice, releases it twice, and stays in its critical section for too long.
func (s *subject) errands(ctx context.Context, p *sim.Program) error {
	second, err := p.NewLock()
	if err != nil {
		return err
	}
	section, err := acquireUntilGranted(ctx, p, p.Lock())
	if err != nil {
		return err
	}
	if err := s.useFirstLease(ctx, p, section, second); err != nil {
		return err
	}
	// By now another client should hold the lock, and this release comes too late.
	if err := p.Sleep(ttls(0.3)); err != nil {
		return err
	}
	_ = section.Release(ctx)
	if section, err = acquireUntilGranted(ctx, p, second); err != nil {
		return err
	}
	_ = section.Write(ctx, trace.DefaultObject)
	// The lock may notify the client of the loss of its lease. The client stays in its
	// section anyway.
	if err := p.Sleep(ttls(2.2)); err != nil {
		return err
	}
	_ = section.Release(ctx)
	return p.Sleep(ttls(3))
}

// useFirstLease is what the client does with its first lease. It asks for the lock by a
// second handle, which must fail as long as it holds the lock. It extends its lease early,
// and stays until the very end of the lease. Another client asks as soon as the keys have
// expired: by then the lease must have ended, according to the lock itself.
func (s *subject) useFirstLease(ctx context.Context, p *sim.Program, section *sim.Section, second locks.Lock) error {
	// A lock may send commands after acquire has returned. The trace attributes them to the
	// client's latest acquisition. So the client waits until they are done before it asks
	// again.
	if err := p.Sleep(ttls(0.05)); err != nil {
		return err
	}
	shortContext, cancel := withTimeout(ctx, p, ttls(0.1))
	secondSection, err := p.Acquire(shortContext, second)
	cancel()
	if err == nil {
		_ = secondSection.Release(ctx)
	}
	if err := p.Sleep(ttls(0.25)); err != nil {
		return err
	}
	if s.config.Extends && section.Extend(ctx) != nil {
		_ = section.Release(ctx)
		return nil
	}
	if err := p.Sleep(ttls(0.4)); err != nil {
		return err
	}
	_ = section.Write(ctx, trace.DefaultObject)
	if end, ok := locks.EndOf(section.Lease()); ok && end.Clock == fakeclock.Monotonic {
		if err := p.Sleep(end.Sub(monotonic(p))); err != nil {
			return err
		}
	}
	_ = section.Release(ctx)
	return nil
}

// acquireUntilGranted repeats acquire until it succeeds, or until the program ends.
func acquireUntilGranted(ctx context.Context, p *sim.Program, lock locks.Lock) (*sim.Section, error) {
	for {
		section, err := p.Acquire(ctx, lock)
		if err == nil {
			return section, nil
		}
		if err := p.Sleep(ttls(0.1)); err != nil {
			return nil, err
		}
	}
}
