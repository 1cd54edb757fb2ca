package sim

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// A timer is a call that the loop will make at a true time, if the timer is not cancelled before.
type timer struct {
	at time.Duration
	// rank, then order, determine the timer's place among the timers of the same time. order counts
	// the timers in the order in which they were added to the queue.
	rank, order int
	do          func()
	cancelled   *atomic.Bool // nil if it cannot be cancelled
}

// queue holds the timers that are not due yet, the latest first. Timers of the same time
// and rank are called in the order in which they were added. A sorted slice is fast enough,
// because the queue is short.
type queue struct {
	timers   []timer
	addCount int
}

// add adds a timer, which calls do at true time at. rank orders timers of the same time. If
// cancelled is not nil, the timer is cancelled when cancelled becomes true.
func (q *queue) add(at time.Duration, rank int, do func(), cancelled *atomic.Bool) {
	q.addCount++
	m := timer{at, rank, q.addCount, do, cancelled}
	i, _ := slices.BinarySearchFunc(q.timers, m, func(a, b timer) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.rank, a.rank), cmp.Compare(b.order, a.order))
	})
	q.timers = slices.Insert(q.timers, i, m)
}

// next returns the time of the earliest timer that is not cancelled, and removes the cancelled
// timers before it. It returns false if the queue is empty. A cancelled timer must not take even a
// nanosecond of its own, because the number of cancelled timers may depend on the order of the
// goroutines.
func (q *queue) next() (time.Duration, bool) {
	for len(q.timers) > 0 {
		first := q.timers[len(q.timers)-1]
		if first.cancelled == nil || !first.cancelled.Load() {
			return first.at, true
		}
		q.pop()
	}
	return 0, false
}

// pop removes the earliest timer and returns its function.
func (q *queue) pop() func() {
	last := len(q.timers) - 1
	do := q.timers[last].do
	q.timers[last] = timer{}
	q.timers = q.timers[:last]
	return do
}
