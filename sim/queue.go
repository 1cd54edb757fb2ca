package sim

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// A timer is something that the loop will do at a true time, unless it is cancelled before.
type timer struct {
	at time.Duration
	// rank and order determine its place among the timers of the same time.
	rank, order int
	do          func()
	cancelled   *atomic.Bool // nil if it cannot be cancelled
}

// queue holds the future timers, the latest first. Timers of the same time and rank keep
// the order in which they were added. The queue is short, because only a few timers are
// pending at one time.
type queue struct {
	timers []timer
	added  int
}

func (q *queue) add(at time.Duration, rank int, do func(), cancelled *atomic.Bool) {
	q.added++
	m := timer{at, rank, q.added, do, cancelled}
	i, _ := slices.BinarySearchFunc(q.timers, m, func(a, b timer) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.rank, a.rank), cmp.Compare(b.order, a.order))
	})
	q.timers = slices.Insert(q.timers, i, m)
}

// next returns the time of the earliest timer that is not cancelled. Cancelled timers must
// have no effect, not even a nanosecond: their number may depend on which goroutine set its
// timer first.
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
