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

// usual is how long a message takes at most in a workload.
const usual = time.Millisecond

// workloads are those in which the lock is explored: those that locksim explore has
// for every lock, and one of errands that only Go can tell. takeover is as in [explore.Lock],
// and share the part of the usual latencies that the lock's own timeouts leave, 1 of so many.
func (s *subject) workloads(seed uint64, takeover, share time.Duration) []explore.Base {
	// They are written for a lock that is registered and has as many nodes.
	name := "single"
	if s.config.Nodes > 1 {
		name = "redlock"
	}
	lock := explore.Lock{
		Name: name, Kind: s.kind, Nodes: s.config.Nodes, TTL: ttl, Takeover: takeover, Extends: s.config.Extends, Seed: seed,
		Latency: fmt.Sprintf("%v-%v", 600*time.Microsecond/share, usual/share),
	}
	// Nobody waits for ever.
	waits := scenarios.Fields{{Name: "gives-up", Value: ttls(0.3).String()}, {Name: "cancels-after", Value: ttls(2.5).String()}}
	starts := on(keysExpired("client-1"), did("client-1", trace.Released), did("client-1", trace.Crashed), did("client-1", trace.Finished))
	errands := explore.Base{Takeover: takeover, Base: runs.Base{
		Name: "errands", Kind: s.kind, Seed: seed, Programs: map[string]runs.Program{"client-1": s.errands},
		Text: scenarios.Fields{
			{Name: "title", Value: "one client asks for the lock that it holds, releases it twice, and stays too long"},
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

// errands is a client that does with the lock what careless programs do.
func (s *subject) errands(ctx context.Context, p *sim.Program) error {
	second, err := p.NewLock()
	if err != nil {
		return err
	}
	in, err := insist(ctx, p, p.Lock())
	if err != nil {
		return err
	}
	if err := s.visit(ctx, p, in, second); err != nil {
		return err
	}
	// By now another client has the lock.
	if err := p.Sleep(ttls(0.3)); err != nil {
		return err
	}
	_ = in.Release(ctx)
	if in, err = insist(ctx, p, second); err != nil {
		return err
	}
	_ = in.Write(ctx, trace.Object)
	// It is told of the loss, if the lock tells, and stays.
	if err := p.Sleep(ttls(2.2)); err != nil {
		return err
	}
	_ = in.Release(ctx)
	return p.Sleep(ttls(3))
}

// visit is the client's first stay: it asks for the lock by a second handle, in vain
// unless it has lost it, prolongs its lease early, and stays until the very end of
// that. Another client comes as soon as the keys have expired: by then the lease must
// have ended by the lock's own word.
func (s *subject) visit(ctx context.Context, p *sim.Program, in *sim.Section, second locks.Lock) error {
	// What a lock goes on with after acquire has returned counts as part of that
	// section only until the next begins.
	if err := p.Sleep(ttls(0.05)); err != nil {
		return err
	}
	short, cancel := bounded(ctx, p, ttls(0.1))
	other, err := p.Acquire(short, second)
	cancel()
	if err == nil {
		_ = other.Release(ctx)
	}
	if err := p.Sleep(ttls(0.25)); err != nil {
		return err
	}
	if s.config.Extends && in.Extend(ctx) != nil {
		_ = in.Release(ctx)
		return nil
	}
	if err := p.Sleep(ttls(0.4)); err != nil {
		return err
	}
	_ = in.Write(ctx, trace.Object)
	if e, ok := in.Lease().(locks.Expirer); ok && e.Expires().Clock == fakeclock.Monotonic {
		if err := p.Sleep(e.Expires().Sub(monotonic(p))); err != nil {
			return err
		}
	}
	_ = in.Release(ctx)
	return nil
}

// insist tries to get the lock until it has it.
func insist(ctx context.Context, p *sim.Program, lock locks.Lock) (*sim.Section, error) {
	for {
		in, err := p.Acquire(ctx, lock)
		if err == nil {
			return in, nil
		}
		if err := p.Sleep(ttls(0.1)); err != nil {
			return nil, err
		}
	}
}
