package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// The lock that learns how long the work takes, so that a holder that dies does
// not keep everybody waiting for a TTL that was chosen for the worst case. A
// service that is fast for a while teaches it a short TTL; the first slow section
// after that is not covered.
func init() {
	Register(Kind{
		Name:     "adaptive-ttl",
		System:   Redis,
		Title:    "as single, but the TTL is three times the longest of the client's last five sections",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New:      variant(func(l *single) Lock { return &adaptive{single: l} }),
	})
}

const (
	// adaptiveFactor is how much longer than the longest section seen a TTL is.
	adaptiveFactor = 3
	// adaptiveMemory is how many sections are remembered.
	adaptiveMemory = 5
	// adaptiveFloor is the shortest TTL that is learnt.
	adaptiveFloor = 100 * time.Millisecond
)

type adaptive struct {
	*single

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

// ttl is at most Env.TTL, which is also what it is before the first section has
// ended.
func (l *adaptive) ttl() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.took) == 0 {
		return l.env.TTL
	}
	return min(max(adaptiveFactor*slices.Max(l.took), adaptiveFloor), l.env.TTL)
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
