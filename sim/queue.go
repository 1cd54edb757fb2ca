package sim

import (
	"cmp"
	"slices"
	"time"
)

// A timer is a call that the loop will make at a true time.
type timer struct {
	at time.Duration
	// rank, then order, determine the timer's place among the timers of the same time. order counts
	// the timers in the order in which they were added to the queue.
	rank, order int
	do          func()
	// isDelivery is set for a delivery; see [World.scheduleDelivery].
	isDelivery bool
}

// queue holds the timers that are not due yet, the latest first. Timers of the same time
// and rank are called in the order in which they were added. A sorted slice is fast enough,
// because the queue is short.
type queue struct {
	timers   []timer
	addCount int
}

// add adds a timer, and sets its order.
func (q *queue) add(t timer) {
	q.addCount++
	t.order = q.addCount
	q.timers = slices.Insert(q.timers, q.find(t.at, t.rank, t.order), t)
}

// remove removes the timer of a time and rank. There must be one, and only one.
func (q *queue) remove(at time.Duration, rank int) {
	i := q.find(at, rank+1, 0)
	q.timers = slices.Delete(q.timers, i, i+1)
}

// find returns the index at which a timer is, or would have to be added.
func (q *queue) find(at time.Duration, rank, order int) int {
	i, _ := slices.BinarySearchFunc(q.timers, timer{at: at, rank: rank, order: order}, func(a, b timer) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.rank, a.rank), cmp.Compare(b.order, a.order))
	})
	return i
}

// next returns the time of the earliest timer. It returns false if the queue is empty.
func (q *queue) next() (time.Duration, bool) {
	if len(q.timers) == 0 {
		return 0, false
	}
	return q.timers[len(q.timers)-1].at, true
}

// pop removes the earliest timer and returns it.
func (q *queue) pop() timer {
	last := len(q.timers) - 1
	t := q.timers[last]
	q.timers[last] = timer{}
	q.timers = q.timers[:last]
	return t
}
