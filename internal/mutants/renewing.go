package mutants

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// The mistakes of a lock on a single node that repeats a request without an answer, and renews its
// leases by itself. With such a mistake, the lock misreads answers, or counts times from the wrong
// moment or in the wrong unit.
const (
	mistakesOwnKey     mistake = "own-key-is-anothers"
	endFromOldEnd      mistake = "end-from-old-end"
	endFromAnswer      mistake = "end-from-answer"
	wholeSeconds       mistake = "whole-seconds"
	renewsWholeSeconds mistake = "renews-whole-seconds"
	renewsThousandfold mistake = "renews-thousandfold"
	renewsMissingKey   mistake = "gone-is-renewed"
	renewsTooSeldom    mistake = "renews-too-seldom"
	renewsReleased     mistake = "renews-released"
	renewsNothing      mistake = "renews-nothing"
)

// renewingMutants lists the mutants of the lock that renews itself, which make one mistake each.
// Those that are harder to detect are in [Elusive].
func renewingMutants() []Mutant {
	return []Mutant{
		onRenewing(mistakesOwnKey, "acquire tries again after an error, and mistakes the key that its first try has set for another client's key", "own key in the way"),
		onRenewing(endFromOldEnd, "a renewal adds a TTL to the old end of the lease, and not to the time of the renewal", "lease-exclusion"),
		onRenewing(endFromAnswer, "the lease counts from the answer to a renewal, and not from its request", "lease-exclusion"),
		onRenewing(renewsThousandfold, "a renewal sends the TTL in milliseconds where the command takes seconds", "progress"),
		onRenewing(renewsMissingKey, "a renewal does not check whether the key was there", "claim: notifies"),
		onRenewing(renewsReleased, "a release that fails does not end the renewals", "progress"),
		onRenewing(renewsTooSeldom, "the lease is renewed only after it has ended", "section-exclusion"),
	}
}

// onRenewing returns the lock that renews itself, with the mistake m.
func onRenewing(m mistake, description, rule string) Mutant {
	return Mutant{Name: "renewing" + nameSuffix(m), Description: description, Nodes: 1, Notifies: true, Renews: true, Rule: rule,
		New: func(env *locks.Env) (locks.Lock, error) { return &renewing{newOneNode(env, maker{m})}, nil }}
}

// renewing is a lock on one node. It sends a request a second time if the first one gets no
// answer, and renews its leases until they are released or lost.
type renewing struct{ oneNode }

// Acquire makes one attempt. If its request gets no answer, it sends a second one.
func (r *renewing) Acquire(ctx context.Context) (locks.Lease, error) {
	l := &renewingLease{renewing: r, value: newValue(r.env), lost: make(chan struct{}), stopped: make(chan struct{}), renewals: make(chan fakeclock.Reading, 1)}
	start := r.now()
	l.end = start.Add(r.env.TTL)
	acquired, err := l.set(ctx)
	if err != nil {
		if acquired, err = l.set(ctx); err == nil && !acquired && !r.hasMistake(mistakesOwnKey) {
			acquired, err = l.ownsKey(ctx)
		}
	}
	switch {
	case err == nil && !acquired:
		return nil, fmt.Errorf("%w: another client holds it", locks.ErrNotAcquired)
	case err != nil || l.remaining() <= 0:
		_, _ = l.run(context.WithoutCancel(ctx), removeScript, l.value)
		return nil, fmt.Errorf("%w: the node gave no answer in time", locks.ErrNotAcquired)
	}
	watchContext, stop := context.WithCancel(r.lifetime)
	l.stop = stop
	go l.watch(watchContext)
	return l, nil
}

// A renewingLease is a lease that renews itself.
type renewingLease struct {
	*renewing
	value    string
	renewals chan fakeclock.Reading
	lost     chan struct{}
	// stop ends the renewals. stopped is closed when they have ended.
	stop    context.CancelFunc
	stopped chan struct{}
	ending
}

// set sets the key if it is free.
func (l *renewingLease) set(ctx context.Context) (acquired bool, err error) {
	words := []any{"SET", l.env.Key, l.value, "NX", "PX", l.env.TTL.Milliseconds()}
	if l.hasMistake(wholeSeconds) {
		words = []any{"SET", l.env.Key, l.value, "NX"}
		if seconds := int(l.env.TTL / time.Second); seconds > 0 {
			words = append(words, "EX", seconds)
		}
	}
	err = l.ask(ctx, func(ctx context.Context) error { return l.node.Do(ctx, words...).Err() })
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// ownsKey reports whether the key has the value of this lease.
func (l *renewingLease) ownsKey(ctx context.Context) (yes bool, err error) {
	err = l.ask(ctx, func(ctx context.Context) error {
		value, err := l.node.Get(ctx, l.env.Key).Result()
		yes = value == l.value
		return err
	})
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return yes, err
}

// expireScript gives a key that has the lease's value a new TTL in seconds.
var expireScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("expire",KEYS[1],ARGV[2])
end
return 0`)

// extendKey gives the key a new TTL if it has the lease's value.
func (l *renewingLease) extendKey(ctx context.Context) (extended bool, err error) {
	script, ttl := extendScript, l.env.TTL.Milliseconds()
	switch {
	case l.hasMistake(renewsThousandfold):
		script = expireScript
	case l.hasMistake(wholeSeconds), l.hasMistake(renewsWholeSeconds):
		script, ttl = expireScript, max(ttl/1000, 1)
	}
	extended, err = l.run(ctx, script, l.value, strconv.FormatInt(ttl, 10))
	return extended || err == nil && l.hasMistake(renewsMissingKey), err
}

// extend gives the key a new TTL and the lease a new end.
func (l *renewingLease) extend(ctx context.Context) error {
	start := l.now()
	extended, err := l.extendKey(ctx)
	if l.hasMistake(endFromAnswer) {
		start = l.now()
	}
	if l.hasMistake(endFromOldEnd) {
		start = l.Expires()
	}
	return l.finishExtend(start.Add(l.env.TTL), l.now(), extended, err)
}

// remaining returns how long the lease still lasts.
func (l *renewingLease) remaining() time.Duration { return l.Expires().Sub(l.now()) }

// Lost returns a channel that is closed when the lease has ended or its key no longer has
// the lease's value.
func (l *renewingLease) Lost() <-chan struct{} { return l.lost }

// Renewals returns a channel that receives the new end of the lease after each renewal.
func (l *renewingLease) Renewals() <-chan fakeclock.Reading { return l.renewals }

// watch renews the lease each third of a TTL until it is released or lost.
func (l *renewingLease) watch(ctx context.Context) {
	defer close(l.stopped)
	defer close(l.renewals)
	interval := l.env.TTL / 3
	if l.hasMistake(renewsTooSeldom) {
		interval = l.env.TTL
	}
	for {
		remaining := l.remaining()
		if l.hasMistake(renewsTooSeldom) {
			remaining = interval
		}
		if l.env.Clock.Sleep(ctx, min(remaining, interval)) != nil {
			return
		}
		if l.hasMistake(renewsNothing) && l.remaining() > 0 {
			continue
		}
		switch err := l.renew(); {
		case err == nil:
			interval = l.env.TTL / 3
			select {
			case <-l.renewals:
			default:
			}
			l.renewals <- l.Expires()
		case errors.Is(err, locks.ErrLost) || l.remaining() <= 0:
			close(l.lost)
			return
		default: // no answer, but the lease still lasts: try again soon
			interval = l.env.TTL / 20
		}
	}
}

// renew extends the lease once. It stops when the lease ends. A release does not interrupt
// it: release has to know whether the key was extended.
func (l *renewingLease) renew() error {
	if l.remaining() <= 0 && !l.hasMistake(renewsTooSeldom) {
		return locks.ErrLost
	}
	ctx, cancel := fakeclock.WithTimeout(l.lifetime, l.env.Clock, max(l.remaining(), time.Millisecond))
	defer cancel()
	return l.extend(ctx)
}

// Release ends the renewals and removes the key.
func (l *renewingLease) Release(ctx context.Context) error {
	if l.hasMistake(renewsReleased) {
		err := releaseError(l.run(ctx, removeScript, l.value))
		if err == nil {
			l.stop()
		}
		return err
	}
	l.stop()
	select {
	case <-l.stopped:
	case <-ctx.Done():
	}
	return releaseError(l.run(ctx, removeScript, l.value))
}
