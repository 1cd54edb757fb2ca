package sim

import (
	"slices"
	"time"
)

// stallLocked waits, with w.io locked, until the process can do I/O. The request identifies
// the waiting goroutine, to put requests in order.
func (p *process) stallLocked(as request) {
	for p.state != running && !p.w.ended {
		done := make(chan struct{})
		as.process = p
		as.admit = func() { p.w.afterMoment(func() { close(done) }) }
		as.abandon = func() { close(done) }
		if as.round == 0 {
			as.round = p.w.round
		}
		waiter := as
		p.stalled = append(p.stalled, &waiter)
		p.w.rouse() // otherwise goroutines that came at different times would belong to one round
		p.w.io.Unlock()
		<-done
		p.w.io.Lock()
	}
}

// stall lets a goroutine of a process continue with the result of its I/O, once the process
// runs. It reports whether the world has ended. It releases the lock even if it panics: the
// code that reports the panic needs the lock, and the world would hang silently.
func (w *World) stall(p *process, as request) (ended bool) {
	w.io.Lock()
	defer w.io.Unlock()
	p.stallLocked(as)
	return w.ended
}

// unstall lets the stalled goroutines continue, writers first, each in a moment of its own.
// If all continued at the same moment, a goroutine that sees its connection end and closes
// it would race with one that writes on it.
func (p *process) unstall(at time.Duration) {
	w := p.w
	w.io.Lock()
	stalled := slices.SortedStableFunc(slices.Values(p.stalled), (*request).compare)
	w.io.Unlock()
	for i, r := range stalled {
		w.noteRace(r, stalled[i+1:])
		w.scheduleDelivery(at, func() {
			w.io.Lock()
			p.stalled = slices.DeleteFunc(p.stalled, func(s *request) bool { return s == r })
			w.io.Unlock()
			r.admit()
		})
	}
}
