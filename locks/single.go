package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/internal/expiry"
)

// This file has the lock of the Redis documentation for one instance: SET with NX and PX,
// and a release that checks the value. The other files named single_ have variants of it.
//
// https://redis.io/docs/latest/develop/use/patterns/distributed-locks/
func init() {
	Register(Kind{
		Name:     "single",
		System:   Redis,
		Title:    "one Redis node: SET NX PX, released by a script that checks the value",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{
			"elapsed-check", // refuse a grant if its answer came after the end of the lease
			"value-check",   // release only the client's own key
			"fresh-value",   // a new value for every attempt
			"extend",
		},
		Slots: onFirstNode,
		New:   newVariant(func(l *single) Lock { return l }),
	})
}

// onFirstNode returns the slots of a lock that stores its key on one node.
func onFirstNode(key string, nodes int) (slots []Slot, quorum int) {
	return []Slot{{Node: 0, Key: key}}, 1
}

// single is a client's handle on the lock on one node. A variant replaces set or release,
// or wraps the whole handle.
type single struct {
	env      *Env
	node     *redis.Client
	validity validity
	timeout  time.Duration // of each request; 0 means none
	value    string        // of every claim; "" if each claim gets a new one
	// unchecked makes the release delete the key whatever the key's value is.
	unchecked bool
	set       func(context.Context, claim) (bool, error)
	release   func(context.Context, claim) (bool, error)
}

// newVariant returns the constructor of a variant of the lock on one node: vary changes the
// handle, or wraps it.
func newVariant(vary func(*single) Lock) func(*Env) (Lock, error) {
	return func(e *Env) (Lock, error) {
		l, err := newSingle(e)
		if err != nil {
			return nil, err
		}
		return vary(l), nil
	}
}

// newSingle makes a handle that does what the Redis documentation says.
func newSingle(e *Env) (*single, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("a lock on one Redis node needs that node, but there is none")
	}
	l := &single{
		env:       e,
		validity:  e.newValidity(0),
		timeout:   e.Options.NodeTimeout,
		unchecked: !e.Options.Has("value-check"),
	}
	l.set = func(ctx context.Context, c claim) (bool, error) { return l.ask(ctx, c.set) }
	l.release = func(ctx context.Context, c claim) (bool, error) { return l.ask(ctx, c.remove) }
	if !e.Options.Has("fresh-value") {
		value, err := e.newValue()
		if err != nil {
			return nil, err
		}
		l.value = value
	}
	l.node = patientClients(e)[0]
	return l, nil
}

// A requestError says that the node gave no answer, or answered with an error. A refusal, such
// as that the key exists, is not a requestError.
type requestError struct{ error }

func (u requestError) Unwrap() error { return u.error }

// ask sends one request to the node. Its error is a requestError, whose text is the same in
// every run of a world.
func (l *single) ask(ctx context.Context, request func(context.Context, *redis.Client) (bool, error)) (bool, error) {
	bounded, cancel := withTimeout(ctx, l.env.Clock, l.timeout)
	defer cancel()
	yes, err := request(bounded, l.node)
	if err != nil {
		return false, requestError{answers.WithCause(ctx, errors.New(answers.Reason(err)))}
	}
	return yes, nil
}

// Acquire tries once. After a network error the node may have set the key nevertheless;
// then the key exists until its TTL has passed.
func (l *single) Acquire(ctx context.Context) (Lease, error) {
	lease, err := l.acquireLease(ctx, l.set)
	if err != nil {
		return nil, err
	}
	if !l.env.Options.Has("extend") {
		return lease, nil
	}
	return extendableSingleLease{lease}, nil
}

// acquireLease tries once to set the key for a TTL, and returns the lease if its time has
// not passed when the answer comes.
func (l *single) acquireLease(ctx context.Context, set func(context.Context, claim) (bool, error)) (*singleLease, error) {
	start := l.validity.now()
	h, err := l.setKey(ctx, set)
	if err != nil {
		return nil, err
	}
	left, ends := l.validity.remaining(start)
	if left <= 0 {
		// The attempt has failed, whatever the result of this request is.
		_, _ = l.release(ctx, h.claim)
		return nil, fmt.Errorf("%w: the answer came %v after the end of the lease", ErrNotAcquired, -left)
	}
	return &singleLease{h, expiry.At(ends)}, nil
}

// setKey tries once to set the key. It does not check how long that took.
func (l *single) setKey(ctx context.Context, set func(context.Context, claim) (bool, error)) (heldClaim, error) {
	c := claim{key: l.env.Key, value: l.value, ttl: l.validity.ttl, unchecked: l.unchecked}
	if c.value == "" {
		value, err := l.env.newValue()
		if err != nil {
			return heldClaim{}, err
		}
		c.value = value
	}
	granted, err := set(ctx, c)
	if err != nil {
		return heldClaim{}, fmt.Errorf("%w: %w", ErrNotAcquired, err)
	}
	if !granted {
		return heldClaim{}, fmt.Errorf("%w: another client holds it", ErrNotAcquired)
	}
	return heldClaim{l, c}, nil
}

// A heldClaim is a claim that the node has granted.
type heldClaim struct {
	lock  *single
	claim claim
}

// Release removes the key. If the key was gone or another client's, the error wraps
// ErrLost.
func (h heldClaim) Release(ctx context.Context) error {
	released, err := h.lock.release(ctx, h.claim)
	if err != nil {
		return fmt.Errorf("lock not released: %w", err)
	}
	if !released {
		return fmt.Errorf("%w before it was released", ErrLost)
	}
	return nil
}

// A singleLease ends one TTL after the call of Acquire, or of the last Extend or renewal.
type singleLease struct {
	heldClaim
	expiry.End
}

// extend extends the key and the lease. Whether the caller may use it depends on the
// variant.
func (l *singleLease) extend(ctx context.Context) error {
	start := l.lock.validity.now()
	extended, err := l.lock.ask(ctx, l.claim.extend)
	if err != nil {
		return fmt.Errorf("lock not extended: %w", err)
	}
	if !extended {
		return fmt.Errorf("%w before it was extended", ErrLost)
	}
	left, ends := l.lock.validity.remaining(start)
	if left <= 0 {
		return fmt.Errorf("%w: the answer to the extension came %v after the end of the new lease", ErrLost, -left)
	}
	l.MoveTo(ends)
	return nil
}

// An extendableSingleLease is the lease of a lock whose feature extend is on.
type extendableSingleLease struct{ *singleLease }

func (l extendableSingleLease) Extend(ctx context.Context) error { return l.extend(ctx) }

// withTimeout gives a request to one node a timeout on the process's clock; a timeout of 0
// means none.
func withTimeout(ctx context.Context, clock fakeclock.Clock, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return fakeclock.WithTimeout(ctx, clock, timeout)
}
