package sim

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// A timer is something that the loop will do at a true time, unless it is
// cancelled before.
type timer struct {
	at time.Duration
	// rank and order are its place among the timers of one time.
	rank, order int
	do          func()
	cancelled   *atomic.Bool // nil if it cannot be
}

// queue holds the timers to come, the latest first; timers of one time and rank
// keep the order in which they were added. It is short: what is under way at one
// time.
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

// next returns the time of the earliest timer that is not cancelled. Those that
// are must leave no trace, not even a nanosecond: how many there are may depend
// on which goroutine set its timer first.
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

// pop removes the earliest timer and returns what is to be done then.
func (q *queue) pop() func() {
	last := len(q.timers) - 1
	do := q.timers[last].do
	q.timers[last] = timer{}
	q.timers = q.timers[:last]
	return do
}
