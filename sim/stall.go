package sim

import (
	"slices"
	"time"
)

// awaitRunningLocked waits until the process runs, or the world has ended. The caller has
// locked w.ioMutex, which is unlocked meanwhile. order is a request that only contains the
// waiting goroutine's place among the stalled goroutines.
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
		p.w.rouse() // so that the loop begins a new round: goroutines that stall later belong to that
		p.w.io.Unlock()
		<-done
		p.w.io.Lock()
	}
}

// awaitRunning waits until the process runs, before a goroutine continues with the result
// of its I/O. It reports whether the world has ended. The unlock is deferred, because after
// a panic the code that reports the panic locks ioMutex too.
func (w *World) stall(p *process, as request) (ended bool) {
	w.io.Lock()
	defer w.io.Unlock()
	p.stallLocked(as)
	return w.ended
}

// releaseStalled lets the stalled goroutines of a process continue, writers first, each in
// a moment of its own. In one moment they would race: for example, one goroutine may see
// that its connection has ended and close it, while another writes on it.
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
