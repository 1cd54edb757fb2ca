package sim

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// A moment is something that the loop will do at a true time, unless it is
// cancelled before.
type moment struct {
	at time.Duration
	// rank and order are its place among the moments of one time.
	rank, order int
	do          func()
	cancelled   *atomic.Bool // nil if it cannot be
}

// queue holds the moments to come, the latest first; moments of one time and rank
// keep the order in which they were added. It is short: what is under way at one
// time.
type queue struct {
	moments []moment
	added   int
}

func (q *queue) add(at time.Duration, rank int, do func(), cancelled *atomic.Bool) {
	q.added++
	m := moment{at, rank, q.added, do, cancelled}
	i, _ := slices.BinarySearchFunc(q.moments, m, func(a, b moment) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.rank, a.rank), cmp.Compare(b.order, a.order))
	})
	q.moments = slices.Insert(q.moments, i, m)
}

// next returns the time of the earliest moment that is not cancelled. Those that
// are must leave no trace, not even a nanosecond: how many there are may depend
// on which goroutine set its timer first.
func (q *queue) next() (time.Duration, bool) {
	for len(q.moments) > 0 {
		first := q.moments[len(q.moments)-1]
		if first.cancelled == nil || !first.cancelled.Load() {
			return first.at, true
		}
		q.pop()
	}
	return 0, false
}

// pop removes the earliest moment and returns what is to be done in it.
func (q *queue) pop() func() {
	last := len(q.moments) - 1
	do := q.moments[last].do
	q.moments[last] = moment{}
	q.moments = q.moments[:last]
	return do
}
