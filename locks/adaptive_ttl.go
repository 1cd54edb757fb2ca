package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// Two locks that learn how long the work takes.
//
// One does so in order that a holder that dies does not keep everybody waiting for a TTL
// that was chosen for the worst case: that TTL is the longest that it takes. A service that
// is fast for a while teaches it a short one, and the first slow section after that is not
// covered. It is our own variant.
//
// The other is as such locks are usually described: the TTL that was chosen is the shortest
// that it takes, and slow sections teach it a longer one. It can lose its lock no sooner
// than one that learns nothing. But one slow section, whatever it was that made it slow,
// has others wait for longer when a holder dies after that.
func init() {
	Register(Kind{
		Name:     "adaptive-ttl-floor",
		System:   Redis,
		Title:    "as single, but the TTL is twice the average of the client's last five sections, or three times what they are expected to take, and never less than the one given",
		OwnClock: true,
		Accepts:  []string{"clock", "expects", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New:      variant(func(l *single) Lock { return &adaptive{single: l, rule: longerThanGiven} }),
	})
	Register(Kind{
		Name:     "adaptive-ttl",
		System:   Redis,
		Title:    "as single, but the TTL is three times the longest of the client's last five sections, and never more than the one given",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New:      variant(func(l *single) Lock { return &adaptive{single: l, rule: shorterThanGiven} }),
	})
}

const (
	// adaptiveFactor is how much longer than the longest section seen a TTL is.
	adaptiveFactor = 3
	// adaptiveMemory is how many sections are remembered.
	adaptiveMemory = 5
	// adaptiveAverage is how much longer than the average section a TTL is.
	adaptiveAverage = 2
	// adaptiveFloor is the shortest TTL that is learnt.
	adaptiveFloor = 100 * time.Millisecond
)

// shorterThanGiven is a TTL for who has seen sections take so long, at least one.
func shorterThanGiven(e *Env, took []time.Duration) time.Duration {
	return min(max(adaptiveFactor*slices.Max(took), adaptiveFloor), e.TTL)
}

// longerThanGiven is the same for who may be told how long they take.
func longerThanGiven(e *Env, took []time.Duration) time.Duration {
	if e.Options.Expects > 0 {
		return max(adaptiveFactor*e.Options.Expects, e.TTL)
	}
	var sum time.Duration
	for _, t := range took {
		sum += t
	}
	return max(adaptiveAverage*sum/time.Duration(len(took)), e.TTL)
}

type adaptive struct {
	*single
	rule func(e *Env, took []time.Duration) time.Duration

	mu   sync.Mutex
	took []time.Duration // the latest sections
}

// Acquire tries once, with the TTL that earlier sections suggest.
func (l *adaptive) Acquire(ctx context.Context) (Lease, error) {
	attempt := *l.single // its own: a lease keeps the TTL that it was granted with
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

// ttl is Env.TTL before the first section has ended, unless it is known how long sections
// take.
func (l *adaptive) ttl() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.took) == 0 && l.env.Options.Expects == 0 {
		return l.env.TTL
	}
	return l.rule(l.env, l.took)
}

func (l *adaptive) learn(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, took)
	if len(l.took) > adaptiveMemory {
		l.took = l.took[1:]
	}
}

// expiringLease is what single grants.
type expiringLease interface {
	Lease
	Expirer
}

type adaptiveLease struct {
	expiringLease
	lock  *adaptive
	began fakeclock.Reading
}

// Release also tells the lock how long the section took.
func (l adaptiveLease) Release(ctx context.Context) error {
	l.lock.learn(l.lock.validity.now().Sub(l.began))
	return l.expiringLease.Release(ctx)
}

type extendableAdaptiveLease struct {
	adaptiveLease
	Extender
}
