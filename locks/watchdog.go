package locks

import (
	"context"
	"errors"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// This lock is for users who cannot say how long the work takes. The TTL is short, and a
// goroutine, the watchdog, renews the lease until the work is done. If the process dies,
// nothing renews the lease, and the lock ends. Redisson made this name popular, and the
// interval of a third of the TTL.
//
// Without the feature retry-renewal, the first error ends the renewals silently while the
// work continues: https://github.com/redisson/redisson/issues/2515. Without loss-signal the
// work is not notified that its lease has ended:
// https://github.com/redisson/redisson/issues/4698.
func init() {
	Register(Kind{
		Name:         "watchdog",
		System:       Redis,
		Title:        "as single, and a watchdog renews the lease every third of its TTL until it is released",
		OwnClock:     true,
		Renews:       true,
		CannotExtend: true,
		Accepts:      []string{"clock", "node-timeout"},
		Features: []string{
			"elapsed-check",
			"value-check",
			"fresh-value",
			"retry-renewal", // after a failed renewal try again, as long as the lease lasts
			"loss-signal",   // notify the work if the lease ended or was taken away
		},
		Slots: onFirstNode,
		New:   newVariant(func(l *single) Lock { return &watchdogLock{l, l.env.Lifetime()} }),
	})
}

// A watchdogLock is a client's handle on the lock.
type watchdogLock struct {
	*single
	life context.Context // ends with Env.Close
}

// Acquire tries once, as single does. ctx bounds only the attempt. The watchdog ends with
// Release, with the lease or with Env.Close.
func (l *watchdogLock) Acquire(ctx context.Context) (Lease, error) {
	lease, err := l.acquireLease(ctx, l.set)
	if err != nil {
		return nil, err
	}
	w := &watchedLease{
		singleLease:    lease,
		renewalTimeout: l.timeout,
		renewals:       make(chan fakeclock.Reading, 1),
		lost:           make(chan struct{}),
		stopped:        make(chan struct{}),
	}
	if w.renewalTimeout == 0 {
		w.renewalTimeout = l.env.TTL / 10
	}
	var life context.Context
	life, w.stop = context.WithCancel(l.life)
	go w.watch(life)
	if !l.env.Options.Has("loss-signal") {
		return w, nil
	}
	return notifyingLease{w}, nil
}

// A watchedLease is a lease with a watchdog.
type watchedLease struct {
	*singleLease
	// renewalTimeout bounds a renewal. It is also the pause after a failed renewal.
	renewalTimeout time.Duration
	renewals       chan fakeclock.Reading
	lost           chan struct{}
	stop           context.CancelFunc
	stopped        chan struct{} // closed when the watchdog has ended
}

// Renewals returns the channel of [Renewer].
func (l *watchedLease) Renewals() <-chan fakeclock.Reading { return l.renewals }

// Release first ends the watchdog, and waits for an unfinished renewal.
func (l *watchedLease) Release(ctx context.Context) error {
	l.stop()
	select {
	case <-l.stopped:
	case <-ctx.Done():
	}
	return l.singleLease.Release(ctx)
}

// A notifyingLease is a watchedLease that also notifies its holder of its loss.
type notifyingLease struct{ *watchedLease }

// Lost returns the channel of [Notifier].
func (l notifyingLease) Lost() <-chan struct{} { return l.lost }

// watch is the goroutine of the watchdog. It uses only the process's clock, so it stops
// while its process is paused. If the lease ends during a pause, the watchdog notices when
// the process continues.
func (l *watchedLease) watch(life context.Context) {
	defer close(l.stopped)
	err := l.keepAlive(life)
	close(l.renewals)
	for err == nil {
		err = l.sleep(life, l.timeLeft())
	}
	if errors.Is(err, ErrLost) {
		close(l.lost)
	}
}

// keepAlive renews the lease. It returns ErrLost when the lease is lost, the context's
// error when life ends, and nil if it stops renewing after a failure.
func (l *watchedLease) keepAlive(life context.Context) error {
	pause := l.untilRenewal()
	for {
		if err := l.sleep(life, pause); err != nil {
			return err
		}
		switch err := l.renew(); {
		case err == nil:
			pause = l.untilRenewal()
		case errors.Is(err, ErrLost):
			return err
		case l.lock.env.Options.Has("retry-renewal"):
			pause = l.renewalTimeout
		default:
			return nil
		}
	}
}

// sleep waits for d and returns nil. It returns ErrLost if the lease has ended by then, or
// an error if life ends before.
func (l *watchedLease) sleep(life context.Context, d time.Duration) error {
	if err := l.lock.env.Clock.Sleep(life, min(d, l.timeLeft())); err != nil {
		return err
	}
	if l.timeLeft() <= 0 {
		return ErrLost
	}
	return nil
}

// renew renews the lease once. It does not use life, whose end would interrupt the request:
// Release must know whether the renewal succeeded.
func (l *watchedLease) renew() error {
	ctx, cancel := fakeclock.WithTimeout(context.Background(), l.lock.env.Clock, min(l.renewalTimeout, l.timeLeft()))
	defer cancel()
	if err := l.extend(ctx); err != nil {
		return err
	}
	// If the caller has not received the previous end yet, the new end replaces it.
	select {
	case <-l.renewals:
	default:
	}
	l.renewals <- l.Expires()
	return nil
}

// timeLeft returns the time until the lease ends.
func (l *watchedLease) timeLeft() time.Duration { return l.Expires().Sub(l.lock.validity.now()) }

// untilRenewal returns the time until a third of the lease has passed.
func (l *watchedLease) untilRenewal() time.Duration { return l.timeLeft() - l.lock.env.TTL*2/3 }
