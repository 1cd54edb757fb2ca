package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// This file has two locks that learn how long the work takes.
//
// adaptive-ttl learns a shorter TTL, because with a TTL that is chosen for the worst case a
// dead holder keeps the others waiting for long. The given TTL is the longest that it uses.
// While the services that a holder calls in its critical section are fast, the lock learns a short
// TTL, which does not cover the first slow section after that. This lock is our own
// variant.
//
// adaptive-ttl-floor works as such locks are usually described: the given TTL is the
// shortest that it uses, and it learns a longer TTL from slow sections. It cannot lose its
// lock sooner than a lock that learns nothing. But after one slow section, whatever the
// cause, the other clients wait longer if a holder dies.
func init() {
	Register(Kind{
		Name:     "adaptive-ttl-floor",
		System:   Redis,
		Title:    "as single, but the TTL is twice the average of the client's last five sections (or three times the expected duration, if given), and never shorter than the given TTL",
		OwnClock: true,
		Accepts:  []string{"clock", "expects", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New:      newVariant(func(l *single) Lock { return &adaptive{single: l, rule: flooredTTL} }),
	})
	Register(Kind{
		Name:     "adaptive-ttl",
		System:   Redis,
		Title:    "as single, but the TTL is three times the longest of the client's last five sections, and never longer than the given TTL",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New:      newVariant(func(l *single) Lock { return &adaptive{single: l, rule: cappedTTL} }),
	})
}

const (
	// adaptiveFactor is the ratio of a TTL to the longest of the client's latest sections, or to
	// the expected length of a section.
	adaptiveFactor = 3
	// adaptiveMemory is how many of a client's sections the lock remembers.
	adaptiveMemory = 5
	// adaptiveAverage is the ratio of a TTL of adaptive-ttl-floor to the average length of the
	// client's latest sections.
	adaptiveAverage = 2
	// minLearnedTTL is the shortest TTL that adaptive-ttl learns.
	minLearnedTTL = 100 * time.Millisecond
)

// cappedTTL returns a TTL of at most the given one. durations are the lengths of the latest
// sections; there must be at least one.
func cappedTTL(e *Env, durations []time.Duration) time.Duration {
	return min(max(adaptiveFactor*slices.Max(durations), minLearnedTTL), e.TTL)
}

// flooredTTL returns a TTL of at least the given one. durations are the lengths of the
// latest sections; they do not count if the expected length of a section is known.
func flooredTTL(e *Env, durations []time.Duration) time.Duration {
	if e.Options.Expects > 0 {
		return max(adaptiveFactor*e.Options.Expects, e.TTL)
	}
	var sum time.Duration
	for _, t := range durations {
		sum += t
	}
	return max(adaptiveAverage*sum/time.Duration(len(durations)), e.TTL)
}

// adaptive is a client's handle on one of the two locks; rule computes the TTL.
type adaptive struct {
	*single
	rule func(e *Env, took []time.Duration) time.Duration

	mu        sync.Mutex
	durations []time.Duration // how long the latest sections took
}

// Acquire tries once, with the TTL that earlier sections suggest.
func (l *adaptive) Acquire(ctx context.Context) (Lease, error) {
	attempt := *l.single // a copy, because a lease keeps the TTL that it was granted with
	attempt.validity.ttl = l.ttl()
	lease, err := attempt.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	timed := adaptiveLease{lease.(expiringLease), l, l.validity.now()}
	if e, ok := lease.(Extender); ok {
		return extendableAdaptiveLease{timed, e}, nil
	}
	return timed, nil
}

// ttl returns the TTL for the next grant. Before the first section has ended it is Env.TTL,
// unless the expected length of sections is known.
func (l *adaptive) ttl() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.durations) == 0 && l.env.Options.Expects == 0 {
		return l.env.TTL
	}
	return l.rule(l.env, l.durations)
}

// addSection remembers how long a section took, and forgets the oldest if there are too
// many.
func (l *adaptive) addSection(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durations = append(l.durations, took)
	if len(l.durations) > adaptiveMemory {
		l.durations = l.durations[1:]
	}
}

// An expiringLease is the lease of the lock called single, which declares when it ends.
type expiringLease interface {
	Lease
	Expirer
}

// An adaptiveLease measures its section, from the return of acquire to the call of release.
type adaptiveLease struct {
	expiringLease
	lock  *adaptive
	began fakeclock.Reading
}

// Release also records how long the section took.
func (l adaptiveLease) Release(ctx context.Context) error {
	l.lock.addSection(l.lock.validity.now().Sub(l.began))
	return l.expiringLease.Release(ctx)
}

// An extendableAdaptiveLease is the lease of a lock whose feature extend is on.
type extendableAdaptiveLease struct {
	adaptiveLease
	Extender
}
