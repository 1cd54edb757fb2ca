package locktest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// reticent is a lock that renews its leases and notifies of their loss, but does not
// declare its renewals. If declaresEnd is set, its leases declare when they end.
type reticent struct {
	locks.Lock
	declaresEnd bool
}

func (r reticent) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := r.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if r.declaresEnd {
		return endingLease{reticentLease{lease}}, nil
	}
	return reticentLease{lease}, nil
}

type reticentLease struct{ lease locks.Lease }

func (l reticentLease) Release(ctx context.Context) error { return l.lease.Release(ctx) }
func (l reticentLease) Lost() <-chan struct{}             { return l.lease.(locks.Notifier).Lost() }

type endingLease struct{ reticentLease }

func (l endingLease) Expires() fakeclock.Reading { return l.lease.(locks.Expirer).Expires() }

// renewals are locks that renew themselves, with the different ways to declare it.
var renewals = []struct {
	name  string
	build func(locks.Lock) locks.Lock
}{
	{"declares renewals", func(l locks.Lock) locks.Lock { return l }},
	{"declares the end of its lease, and no renewals", func(l locks.Lock) locks.Lock { return reticent{l, true} }},
	{"declares nothing", func(l locks.Lock) locks.Lock { return reticent{l, false} }},
}

// keyLeft is the rule that the lock of these tests violates, whatever it declares: like the
// lock single, it does not remove its key after an acquire that failed.
const keyLeft = "key left behind"

// watching is the Config of a lock that renews itself.
var watching = locktest.Config{Notifies: true, OwnClock: true}

func newWatchdog(wrap func(locks.Lock) locks.Lock) locktest.New {
	return func(env *locktest.Env) (locks.Lock, error) {
		k, _ := locks.Lookup("watchdog")
		l, err := k.New(env.Base())
		return wrap(l), err
	}
}

// What goes wrong because of a clock is not the lock's own fault, whatever the lock
// declares about its renewals.
func TestUndeclaredRenewals(t *testing.T) {
	for _, story := range []struct{ name, fault string }{
		{"a node's clock is set forward after some renewals", `{when: 'redis-1''s reply to client-1 arrived, 5th time', jump: redis-1, by: 8s}`},
		{"a client's machine is suspended in acquire", `{when: redis-1's reply to client-1's acquire arrived, pause: client-1, mode: suspend, for: 9.5s}`},
		{"a client's machine is suspended in acquire for a TTL", `{when: redis-1's reply to client-1's acquire arrived, pause: client-1, mode: suspend, for: 10s}`},
		{"a client's machine is suspended in a renewal", `{when: 'redis-1''s reply to client-1 arrived, 5th time', pause: client-1, mode: suspend, for: 9.5s}`},
	} {
		for _, lock := range renewals {
			runs := locktest.Scenario(t, watching, newWatchdog(lock.build), 1, fmt.Sprintf(`
title: a holder that heeds the loss of its lock
lock: {kind: watchdog, ttl: 10s}
clients:
  client-1: {works: 16s}
  client-2: {starts: client-1's keys expired, works: 1s, retry-every: 100ms}
faults:
  - %s
`, story.fault))
			for _, run := range runs {
				overlap := false
				for _, f := range run.Verdict.Findings {
					overlap = overlap || f.Property == checks.SectionExclusion && f.Outcome == checks.Violated
					if f.Outcome == checks.Violated && f.Blame == checks.BlameLock {
						t.Errorf("%s, %s, fencing %s: %s is the lock's own fault", story.name, lock.name, run.Fencing, f.Property)
					}
				}
				if !overlap {
					t.Errorf("%s, %s, fencing %s: no two sections overlap, so the test shows nothing", story.name, lock.name, run.Fencing)
				}
			}
		}
	}
}

// An exploration has the same result as the suite: whatever a lock declares about its
// renewals, it violates only the rule keyLeft.
func TestUndeclaredRenewalsExplored(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches in thousands of worlds")
	}
	for _, lock := range renewals {
		t.Run(lock.name, func(t *testing.T) {
			for b := range locktest.BreaksIn(t, watching, newWatchdog(lock.build), locktest.Exploration{MaxFaults: 1}) {
				if !slices.Equal(b.Rules, []string{keyLeft}) {
					t.Errorf("%s: the search found violations of %v, want only %q", b.Replay, b.Rules, keyLeft)
				}
			}
		})
	}
}

// The suite finds no other problem of these locks than keyLeft.
func TestUndeclaredRenewalsSurveyed(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole suite")
	}
	for _, lock := range renewals {
		t.Run(lock.name, func(t *testing.T) {
			for f := range locktest.Survey(t, watching, newWatchdog(lock.build)) {
				for _, p := range f.Problems {
					if p.Rule != keyLeft {
						t.Errorf("%s in %s: %s", p.Rule, p.Replay, p.Why)
					}
				}
			}
		})
	}
}
