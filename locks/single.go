package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
)

// The lock of the Redis documentation for one instance: SET with NX and PX, and
// a release that checks the value.
//
// https://redis.io/docs/latest/develop/use/patterns/distributed-locks/
func init() {
	Register(Kind{
		Name:     "single",
		Title:    "one Redis node: SET NX PX, released by a script that checks the value",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{
			"elapsed-check", // refuse a grant whose answer came after its end
			"value-check",   // release only what is still one's own
			"fresh-value",   // a new value for every attempt
			"extend",
		},
		Slots: func(key string, nodes int) ([]Slot, int) { return []Slot{{Node: 0, Key: key}}, 1 },
		New:   newSingle,
	})
}

type single struct {
	env      *Env
	node     *redis.Client
	validity validity
	timeout  time.Duration // of each request; 0 is none
	value    string        // of every claim, if it is not to be fresh
}

func newSingle(e *Env) (Lock, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("single needs a Redis node, but there is none")
	}
	l := &single{env: e, validity: e.validity(0), timeout: e.Options.NodeTimeout}
	if !e.Options.Has("fresh-value") {
		value, err := e.newValue()
		if err != nil {
			return nil, err
		}
		l.value = value
	}
	l.node = e.patient()[0]
	return l, nil
}

// ask makes one request. Its error is the reason in words that do not depend on
// chance.
func (l *single) ask(ctx context.Context, request func(context.Context, *redis.Client) (bool, error)) (bool, error) {
	bounded, cancel := within(ctx, l.env.Clock, l.timeout)
	defer cancel()
	yes, err := request(bounded, l.node)
	if err != nil {
		return false, because(ctx, errors.New(reason(err)))
	}
	return yes, nil
}

// Acquire tries once. After an error of the network the key may have been set
// all the same; then it stands until its TTL is over.
func (l *single) Acquire(ctx context.Context) (Lease, error) {
	c := claim{key: l.env.Key, value: l.value, ttl: l.env.TTL, unchecked: !l.env.Options.Has("value-check")}
	if c.value == "" {
		value, err := l.env.newValue()
		if err != nil {
			return nil, err
		}
		c.value = value
	}
	start := l.validity.now()
	granted, err := l.ask(ctx, c.set)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAcquired, err)
	}
	if !granted {
		return nil, fmt.Errorf("%w: somebody else holds it", ErrNotAcquired)
	}
	left, ends := l.validity.since(start)
	if left <= 0 {
		// What becomes of this request changes nothing for the caller.
		_, _ = l.ask(ctx, c.remove)
		return nil, fmt.Errorf("%w: the answer came %v after the end of the lease", ErrNotAcquired, -left)
	}
	lease := &singleLease{lock: l, claim: c, ends: ends}
	if !l.env.Options.Has("extend") {
		return lease, nil
	}
	return extendableSingleLease{lease}, nil
}

type singleLease struct {
	lock  *single
	claim claim

	mu   sync.Mutex
	ends fakeclock.Reading
}

// Expires is one TTL after Acquire, or the last Extend, was called.
func (l *singleLease) Expires() fakeclock.Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends
}

func (l *singleLease) Release(ctx context.Context) error {
	released, err := l.lock.ask(ctx, l.claim.remove)
	if err != nil {
		return fmt.Errorf("lock not released: %w", err)
	}
	if !released {
		return fmt.Errorf("%w before it was released", ErrLost)
	}
	return nil
}

type extendableSingleLease struct{ *singleLease }

func (l extendableSingleLease) Extend(ctx context.Context) error {
	start := l.lock.validity.now()
	extended, err := l.lock.ask(ctx, l.claim.prolong)
	if err != nil {
		return fmt.Errorf("lock not extended: %w", err)
	}
	if !extended {
		return fmt.Errorf("%w before it was extended", ErrLost)
	}
	left, ends := l.lock.validity.since(start)
	if left <= 0 {
		return fmt.Errorf("%w: the answer to the extension came %v after its end", ErrLost, -left)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = ends
	return nil
}

// within bounds a request to one node on the process's clock; 0 is no bound.
func within(ctx context.Context, clock fakeclock.Clock, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return fakeclock.WithTimeout(ctx, clock, timeout)
}
