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

// A circuit breaker around the lock on one node: when the node is down, clients
// that wait for it in vain would take the whole service down with it. So after a
// few failures in a row nobody asks the node any more for a while, and a fallback
// says what happens instead. What a lock is for decides which: work that merely
// should not be done twice can go ahead; work that must not, cannot.
//
// Between the two is a lock of the process's own. It keeps the process's handles from
// each other, and nobody else: other processes have one of their own each.
//
// The pattern is Michael Nygard's, from "Release It!" (2007).
func init() {
	Register(Kind{
		Name:     "circuit-breaker",
		System:   Redis,
		Title:    "as single, but when the node does not answer: refuse at once, go ahead without a lock, or with one of the process's own",
		OwnClock: true,
		Accepts:  []string{"clock", "failures", "fallback", "node-timeout", "open-for"},
		Features: []string{"elapsed-check", "value-check", "fresh-value"},
		Slots:    onFirstNode,
		New: variant(func(l *single) Lock {
			if l.timeout == 0 {
				l.timeout = breakerTimeout
			}
			b := &circuitBreaker{
				single:   l,
				most:     cmp.Or(l.env.Options.Failures, breakerFailures),
				coolDown: cmp.Or(l.env.Options.OpenFor, breakerCoolDown),
			}
			if l.env.Options.Fallback == Local {
				b.local = Share(l.env, "local lock "+l.env.Key, func() *localLock { return &localLock{} })
			}
			return b
		}),
	})
}

const (
	// breakerTimeout bounds a request: a breaker that waits for ever for a dead
	// node never finds out that it is dead.
	breakerTimeout = time.Second
	// breakerFailures in a row open the circuit, if nothing else is set.
	breakerFailures = 5
	// breakerCoolDown is how long the circuit stays open, if nothing else is set. Then
	// one attempt is let through, and its outcome decides.
	breakerCoolDown = 60 * time.Second
)

type circuitBreaker struct {
	*single
	most     int // failures in a row, which open the circuit
	coolDown time.Duration
	local    *localLock // nil if that is not the fallback

	mu       sync.Mutex
	failures int               // in a row
	probe    fakeclock.Reading // when the next attempt is let through if there were too many
}

// Acquire tries once if the circuit lets it. If not, it does as the fallback says.
func (b *circuitBreaker) Acquire(ctx context.Context) (Lease, error) {
	if b.local == nil {
		return b.acquire(ctx)
	}
	// Whoever has got in by Redis keeps this process's other handles out too, and who
	// falls back later.
	if !b.local.take() {
		return nil, fmt.Errorf("%w: somebody else in this process holds it", ErrNotAcquired)
	}
	lease, err := b.acquire(ctx)
	if err != nil {
		b.local.free()
		return nil, err
	}
	local := &localLease{breakerLease: lease.(breakerLease), lock: b.local}
	if _, alone := lease.(*withoutLock); alone {
		return onlyLocalLease{local}, nil
	}
	return local, nil
}

func (b *circuitBreaker) acquire(ctx context.Context) (Lease, error) {
	if wait := b.open(); wait > 0 {
		if b.env.Options.Fallback == GoAhead || b.local != nil {
			return b.goAhead(), nil
		}
		return nil, fmt.Errorf("%w: too many requests have failed, and the node is not asked again for %v", ErrNotAcquired, wait)
	}
	lease, err := b.single.Acquire(ctx)
	b.learn(err)
	return lease, err
}

// open is how long the circuit stays open; it is closed if that is 0.
func (b *circuitBreaker) open() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.most {
		return 0
	}
	now := b.validity.now()
	if wait := b.probe.Sub(now); wait > 0 {
		return wait
	}
	// One probe at a time: to others the circuit stays open.
	b.probe = now.Add(b.coolDown)
	return 0
}

// learn counts failures. A refusal is an answer. So is one that came too late;
// and a caller that has lost its interest says nothing about the node.
func (b *circuitBreaker) learn(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch failed := (unanswered{}); {
	case errors.Is(err, context.Canceled):
	case errors.As(err, &failed):
		b.failures++
		b.probe = b.validity.now().Add(b.coolDown)
	default:
		b.failures = 0
	}
}

func (b *circuitBreaker) goAhead() *withoutLock {
	l := &withoutLock{validity: b.validity}
	_ = l.Extend(context.Background())
	return l
}

// withoutLock is a lease that nobody granted. It ends one TTL after Acquire, or the last
// Extend, was called: the holder goes on as if it had the lock.
type withoutLock struct {
	validity validity
	expiry.End
}

// Release has nothing to do.
func (l *withoutLock) Release(context.Context) error { return nil }

// Extend always succeeds.
func (l *withoutLock) Extend(context.Context) error {
	l.MoveTo(l.validity.now().Add(l.validity.ttl))
	return nil
}

// Token is 0: who goes ahead without the lock has no token.
func (l *withoutLock) Token() uint64 { return 0 }
