package sim

import "time"

// An alarm provides true time and timers to a process's clock: the clock sets it for the earliest
// of its timers. Any goroutine may set it, but only the loop puts it into the queue, before it looks
// for the next timer. A change after that ends the loop's sleep, and the loop looks again. So it does
// not matter how often, and in which order, the goroutines of a process set the alarm in between.
type alarm struct {
	p *process

	// w.ioMutex guards these fields.
	ring    func() // nil if the alarm is not set
	at      time.Duration
	changed bool // the alarm is one of w.changedAlarms

	// callRing is call, as the function of the alarm's timers.
	callRing func()
	// queuedAt is the time for which the queue has a timer for the alarm; only the loop uses it. It
	// is negative if the queue has none.
	queuedAt time.Duration
}

func (a *alarm) Now() time.Duration { return a.p.w.now() }

// SetAlarm and ClearAlarm implement [fakeclock.Timeline].
func (a *alarm) SetAlarm(at time.Duration, ring func()) { a.set(at, ring) }
func (a *alarm) ClearAlarm()                            { a.set(0, nil) }

func (a *alarm) set(at time.Duration, ring func()) {
	w := a.p.w
	w.disturb()
	w.ioMutex.Lock()
	defer w.ioMutex.Unlock()
	if w.ended {
		return
	}
	a.at, a.ring = at, ring
	if !a.changed {
		a.changed = true
		w.watchdog.steps.Add(1)
		w.changedAlarms = append(w.changedAlarms, a)
		w.wakeLoop()
	}
}

// call makes the alarm ring. The loop calls it when the alarm's timer in the queue is due. The alarm
// is set then: it cannot have changed since queueAlarms, because every goroutine waits.
func (a *alarm) call() {
	w := a.p.w
	a.queuedAt = -1
	w.ioMutex.Lock()
	ring := a.ring
	a.ring = nil
	w.ioMutex.Unlock()
	w.afterMoment(ring)
}

// rank is the place of the alarm among the timers of the same time in the queue. It is unique.
func (a *alarm) rank() int { return 1 + 2*a.p.index }

// turnRank is the place of the moments in which goroutines of a process take turns. They come after
// the process's alarm, because the goroutines wait for all timers that are due.
func (p *process) turnRank() int { return 2 + 2*p.index }

// queueAlarms brings the queue up to date with the alarms that were changed.
func (w *World) queueAlarms() {
	w.ioMutex.Lock()
	defer w.ioMutex.Unlock()
	for _, a := range w.changedAlarms {
		a.changed = false
		if a.ring != nil && a.at == a.queuedAt {
			continue
		}
		if a.queuedAt >= 0 {
			w.queue.remove(a.queuedAt, a.rank())
			a.queuedAt = -1
		}
		if a.ring != nil {
			a.queuedAt = a.at
			w.queue.add(timer{at: a.at, rank: a.rank(), do: a.callRing})
		}
	}
	clear(w.changedAlarms)
	w.changedAlarms = w.changedAlarms[:0]
}
