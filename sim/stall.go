package sim

import (
	"slices"
	"time"
)

// awaitRunningLocked waits until the process runs, or the world has ended. The caller has locked
// w.ioMutex, which is unlocked meanwhile. order is a [request] that determines when the waiting
// goroutine continues, compared with the other stalled goroutines; awaitRunningLocked sets its
// remaining fields.
func (p *process) awaitRunningLocked(order request) {
	for p.state != running && !p.w.ended {
		done := make(chan struct{})
		order.process = p
		order.admit = func() { p.w.afterMoment(func() { close(done) }) }
		order.abandon = func() { close(done) }
		if order.round == 0 {
			order.round = p.w.round
		}
		waiter := order
		p.stalled = append(p.stalled, &waiter)
		p.w.wakeLoop() // so that the loop begins a new round: goroutines that stall later belong to that
		p.w.ioMutex.Unlock()
		<-done
		p.w.ioMutex.Lock()
	}
}

// awaitRunning waits until the process runs, before a goroutine continues with the result
// of its I/O. It reports whether the world has ended. The unlock is deferred, because after
// a panic the code that reports the panic locks ioMutex too.
func (w *World) awaitRunning(p *process, order request) (ended bool) {
	w.ioMutex.Lock()
	defer w.ioMutex.Unlock()
	p.awaitRunningLocked(order)
	return w.ended
}

// releaseStalled lets the stalled goroutines of a process continue, writers first, each in a moment
// of its own: the loop wakes the next one when all goroutines wait again. In one moment they would
// race: for example, one goroutine may see that its connection has ended and close it, while
// another writes on it.
func (p *process) releaseStalled(resumed time.Duration) {
	w := p.w
	w.ioMutex.Lock()
	stalled := slices.SortedStableFunc(slices.Values(p.stalled), (*request).compare)
	w.ioMutex.Unlock()
	for i, r := range stalled {
		w.recordRaces(r, stalled[i+1:])
		w.scheduleDelivery(resumed, func() {
			w.ioMutex.Lock()
			p.stalled = slices.DeleteFunc(p.stalled, func(s *request) bool { return s == r })
			w.ioMutex.Unlock()
			r.admit()
		})
	}
}
