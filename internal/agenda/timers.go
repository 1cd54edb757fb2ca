// Package agenda holds what a simulated server has still to do: what an alarm or a timer
// calls, and what it sends when the world has seen what it did.
package agenda

import (
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// An Alarm rings when a node's time of day comes to a moment, as what a server ends by its wall
// clock does: keys that expire, and rows that name their end. It has to be set anew when the
// clock is.
type Alarm struct {
	host *sim.Host
	ring func()
	set  int // counts the moments that it was set to: only the latest counts
}

// NewAlarm makes one. It rings, on the loop, while the node is up, also in a pause.
func NewAlarm(h *sim.Host, ring func()) *Alarm { return &Alarm{host: h, ring: ring} }

// Set has the alarm ring when the node's wall clock reads t, in place of what it was set to
// before. The zero Time is never.
func (a *Alarm) Set(t time.Time) {
	a.set++
	set := a.set
	if t.IsZero() {
		return
	}
	if at, ok := a.host.When(t); ok {
		a.host.At(at, func() {
			if set == a.set && a.host.Up() {
				a.ring()
			}
		})
	}
}

// Timers call what is due by a node's monotonic clock, as real servers measure their limits: no
// jump of a wall clock reaches it. They call on the world's loop. What falls due in a pause is
// called when the node runs again. They go with what has made them: after a crash a server clears
// them.
type Timers struct {
	host  *sim.Host
	all   []*Timer // the next first
	alarm *Alarm
}

// A Timer is one call.
type Timer struct {
	due  int64
	call func()
}

// Due is when it is called, by the node's monotonic clock, in nanoseconds.
func (one *Timer) Due() int64 { return one.due }

// NewTimers makes those of a server that does in its own way what is due.
func NewTimers(h *sim.Host, do func(func())) *Timers {
	t := &Timers{host: h}
	t.alarm = NewAlarm(h, func() { h.Running(func() { do(t.fire) }) })
	return t
}

// Now is what the node's monotonic clock reads, in nanoseconds.
func (t *Timers) Now() int64 { return t.host.Clock().Read(fakeclock.Monotonic).Nanos }

// After has f called once d has passed.
func (t *Timers) After(d time.Duration, f func()) *Timer { return t.At(t.Now()+int64(d), f) }

// At has f called once the node's monotonic clock reads so many nanoseconds.
func (t *Timers) At(due int64, f func()) *Timer {
	one := &Timer{due, f}
	i := len(t.all)
	for i > 0 && t.all[i-1].due > one.due {
		i--
	}
	t.all = slices.Insert(t.all, i, one)
	if i == 0 {
		t.Arm()
	}
	return one
}

// Stop forgets a timer, which may have been called, or be nil.
func (t *Timers) Stop(one *Timer) {
	if i := slices.Index(t.all, one); i >= 0 {
		t.all = slices.Delete(t.all, i, i+1)
	}
}

// Clear forgets all.
func (t *Timers) Clear() {
	t.all = nil
	t.Arm()
}

// Expires is when a timer is due in true time, if nothing comes between; false if the machine
// stands still.
func (t *Timers) Expires(one *Timer) (time.Duration, bool) { return t.host.When(t.wall(one)) }

// wall is what the wall clock reads when a timer is due.
func (t *Timers) wall(one *Timer) time.Time {
	return t.host.Clock().Now().Add(time.Duration(max(one.due-t.Now(), 0)))
}

// Arm has the world call when the first timer is due, as the clocks go now. It is to be called
// when they go otherwise.
func (t *Timers) Arm() {
	first := time.Time{}
	if len(t.all) > 0 {
		first = t.wall(t.all[0])
	}
	t.alarm.Set(first)
}

func (t *Timers) fire() {
	now := t.Now()
	for len(t.all) > 0 && t.all[0].due <= now {
		one := t.all[0]
		t.all = t.all[1:]
		one.call()
	}
	t.Arm()
}
