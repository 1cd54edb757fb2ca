package sim

import (
	"slices"
	"time"
)

// stall waits, with w.io locked, until the process can do I/O. The request says
// who waits, in the words that put requests in order.
func (p *process) stall(as request) {
	for p.state != running && !p.w.over {
		goOn := make(chan struct{})
		as.process = p
		as.admit = func() { p.w.then(func() { close(goOn) }) }
		as.abandon = func() { close(goOn) }
		if as.round == 0 {
			as.round = p.w.round
		}
		mine := as
		p.stalled = append(p.stalled, &mine)
		p.w.rouse() // or goroutines that came at different times would be of one round
		p.w.io.Unlock()
		<-goOn
		p.w.io.Lock()
	}
}

// hear has a goroutine of a process go on with what it has heard, once the process runs. It
// reports whether the world is over. It does not keep the lock in a panic: whoever tells of
// that needs it, and the world would stand still without a word.
func (w *World) hear(p *process, as request) (over bool) {
	w.io.Lock()
	defer w.io.Unlock()
	p.stall(as)
	return w.over
}

// unstall lets the goroutines go on that stalled, writers first, each in a moment
// of its own. If all went on at once, one that hears that its connection is over
// and closes it would race with one that writes on it.
func (p *process) unstall(at time.Duration) {
	w := p.w
	w.io.Lock()
	stalled := slices.SortedStableFunc(slices.Values(p.stalled), (*request).compare)
	w.io.Unlock()
	for i, r := range stalled {
		w.noteRace(r, stalled[i+1:])
		w.fly(at, func() {
			w.io.Lock()
			p.stalled = slices.DeleteFunc(p.stalled, func(s *request) bool { return s == r })
			w.io.Unlock()
			r.admit()
		})
	}
}
