package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/expiry"
)

// This file puts a circuit breaker around the lock on one node. When the node is down, clients that
// wait for it in vain could also bring down the service that they belong to. Therefore, after a few
// failures in a row, a client does not ask the node for a while, and a fallback decides what
// happens instead. The right fallback depends on the purpose of the lock. If doing the work twice
// only wastes time, the work can continue without the lock. If doing it twice does harm, the work
// must wait.
//
// The third fallback is a local lock of the process. It excludes only the other handles of
// the same process; every other process has its own local lock.
//
// The pattern is Michael Nygard's, from "Release It!" (2007).
func init() {
	Register(Kind{
		Name:     "circuit-breaker",
		System:   Redis,
		Title:    "as single, but while the node does not answer, it refuses immediately, goes ahead without a lock, or uses a lock of the process",
		OwnClock: true,
		Accepts:  []string{"clock", "failures", "fallback", "node-timeout", "open-for"},
		Features: []string{"elapsed-check", "value-check", "fresh-value"},
		Slots:    onFirstNode,
		New: newVariant(func(l *single) Lock {
			if l.timeout == 0 {
				l.timeout = breakerTimeout
			}
			b := &circuitBreaker{
				single:      l,
				maxFailures: cmp.Or(l.env.Options.Failures, breakerFailures),
				coolDown:    cmp.Or(l.env.Options.OpenFor, breakerCoolDown),
			}
			if l.env.Options.Fallback == Local {
				b.local = Share(l.env, "local lock "+l.env.Key, func() *localLock { return &localLock{} })
			}
			return b
		}),
	})
}

const (
	// breakerTimeout bounds a request: a breaker that waits forever for a dead node never
	// notices that the node is dead.
	breakerTimeout = time.Second
	// breakerFailures is how many failures in a row open the circuit by default.
	breakerFailures = 5
	// breakerCoolDown is how long the circuit stays open by default. Then the breaker lets
	// one attempt through to the node, and the result of that attempt decides whether the
	// circuit closes.
	breakerCoolDown = 60 * time.Second
)

// A circuitBreaker is a client's handle on the lock. As in an electric circuit, closed
// means that requests go to the node, and open means that none do.
type circuitBreaker struct {
	*single
	maxFailures int // this many failures in a row open the circuit
	coolDown    time.Duration
	local       *localLock // nil unless the fallback is Local

	mu        sync.Mutex
	failures  int               // in a row
	nextProbe fakeclock.Reading // when an open circuit lets the next attempt through to the node
}

// Acquire tries once at the node if the circuit is closed. If it is open, Acquire does what
// the fallback says.
func (b *circuitBreaker) Acquire(ctx context.Context) (Lease, error) {
	if b.local == nil {
		return b.acquireOrFallBack(ctx)
	}
	// The local lock is taken even if Redis grants the lease. Another handle of this process,
	// whose circuit opens later, asks only for the local lock, and must not get it during this
	// lease.
	if !b.local.tryLock() {
		return nil, fmt.Errorf("%w: another handle of this process holds it", ErrNotAcquired)
	}
	lease, err := b.acquireOrFallBack(ctx)
	if err != nil {
		b.local.unlock()
		return nil, err
	}
	local := &localLease{breakerLease: lease.(breakerLease), lock: b.local}
	if _, isLocalOnly := lease.(*unlockedLease); isLocalOnly {
		return onlyLocalLease{local}, nil
	}
	return local, nil
}

// acquireOrFallBack is Acquire without the local lock.
func (b *circuitBreaker) acquireOrFallBack(ctx context.Context) (Lease, error) {
	if wait := b.openTime(); wait > 0 {
		if b.env.Options.Fallback == GoAhead || b.local != nil {
			return b.leaseWithoutLock(), nil
		}
		return nil, fmt.Errorf("%w: too many requests have failed, and the node is not asked again for %v", ErrNotAcquired, wait)
	}
	lease, err := b.single.Acquire(ctx)
	b.recordResult(err)
	return lease, err
}

// openTime returns how long the circuit still stays open; 0 means that the caller may ask
// the node.
func (b *circuitBreaker) openTime() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.maxFailures {
		return 0
	}
	now := b.validity.now()
	if wait := b.nextProbe.Sub(now); wait > 0 {
		return wait
	}
	// Only this caller may probe the node: for other attempts the circuit stays open.
	b.nextProbe = now.Add(b.coolDown)
	return 0
}

// recordResult counts failures in a row. A refusal, even one that came late, shows that the
// node works. A cancelled attempt shows nothing about the node.
func (b *circuitBreaker) recordResult(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch failed := (requestError{}); {
	case errors.Is(err, context.Canceled):
	case errors.As(err, &failed):
		b.failures++
		b.nextProbe = b.validity.now().Add(b.coolDown)
	default:
		b.failures = 0
	}
}

// leaseWithoutLock returns a lease that starts now and that no server knows of.
func (b *circuitBreaker) leaseWithoutLock() *unlockedLease {
	l := &unlockedLease{validity: b.validity}
	_ = l.Extend(context.Background())
	return l
}

// An unlockedLease is a lease that no server granted: its holder works as if it had the lock. The
// lease ends one TTL after the call of Acquire, or of the last Extend.
type unlockedLease struct {
	validity validity
	expiry.End
}

// Release has nothing to do.
func (l *unlockedLease) Release(context.Context) error { return nil }

// Extend always succeeds.
func (l *unlockedLease) Extend(context.Context) error {
	l.MoveTo(l.validity.now().Add(l.validity.ttl))
	return nil
}

// Token returns 0: without the lock there is no token.
func (l *unlockedLease) Token() uint64 { return 0 }
