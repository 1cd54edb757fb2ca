// Package agenda holds what a simulated server will do later: the calls of alarms and
// timers, and what it sends after faults and clients have reacted to what it did.
package agenda

import (
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// An Alarm rings when a node's time of day reaches a moment. It is for what a server ends
// by its wall clock: keys that expire, and rows that contain their end. It must be set
// again when the clock is set.
type Alarm struct {
	host     *sim.Host
	ring     func()
	setCount int // counts the calls of Set: only the latest one counts
}

// NewAlarm returns an alarm that calls ring on the loop, while the node is up, also during
// a pause.
func NewAlarm(h *sim.Host, ring func()) *Alarm { return &Alarm{host: h, ring: ring} }

// Set makes the alarm ring when the node's wall clock reads t, and cancels the previous
// setting. The zero Time is never.
func (a *Alarm) Set(t time.Time) {
	a.setCount++
	current := a.setCount
	if t.IsZero() {
		return
	}
	if at, ok := a.host.When(t); ok {
		a.host.At(at, func() {
			if current == a.setCount && a.host.IsUp() {
				a.ring()
			}
		})
	}
}

// Timers make calls at times of a node's monotonic clock. Real servers measure their limits
// by that clock, so no jump of a wall clock affects them. The calls are made on the world's
// loop. A call that is due during a pause is made when the node runs again. After a crash a
// server must clear its timers.
type Timers struct {
	host  *sim.Host
	all   []*Timer // the next one first
	alarm *Alarm
}

// A Timer is one call.
type Timer struct {
	due  int64
	call func()
}

// Due returns when the call is made, by the node's monotonic clock, in nanoseconds.
func (one *Timer) Due() int64 { return one.due }

// NewTimers returns the timers of a server. All calls that are due are passed to do, which
// makes them in the server's own way.
func NewTimers(h *sim.Host, do func(func())) *Timers {
	t := &Timers{host: h}
	t.alarm = NewAlarm(h, func() { h.WhenRunning(func() { do(t.fire) }) })
	return t
}

// Now returns what the node's monotonic clock reads, in nanoseconds.
func (t *Timers) Now() int64 { return t.host.Clock().Read(fakeclock.Monotonic).Nanos }

// After makes the timers call f once d has passed.
func (t *Timers) After(d time.Duration, f func()) *Timer { return t.At(t.Now()+int64(d), f) }

// At makes the timers call f once the node's monotonic clock reads due, in nanoseconds.
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

// Stop removes a timer. The timer may have been called already, or be nil.
func (t *Timers) Stop(one *Timer) {
	if i := slices.Index(t.all, one); i >= 0 {
		t.all = slices.Delete(t.all, i, i+1)
	}
}

// Clear removes all timers.
func (t *Timers) Clear() {
	t.all = nil
	t.Arm()
}

// DueInTrueTime returns when a timer is due in true time, if nothing changes; false if the
// machine stands still.
func (t *Timers) DueInTrueTime(one *Timer) (time.Duration, bool) { return t.host.When(t.wall(one)) }

// wall returns what the wall clock reads when a timer is due.
func (t *Timers) wall(one *Timer) time.Time {
	return t.host.Clock().Now().Add(time.Duration(max(one.due-t.Now(), 0)))
}

// Arm makes the world call the first timer when it is due, with the clocks as they run now.
// It must be called again when the clocks change.
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
