// Package agenda holds what a simulated server will do later. An [Alarm] and [Timers] call
// functions at given readings of the clocks of the server's node. An [Outbox] keeps messages until
// the server may send them.
package agenda

import (
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// An Alarm calls a function when a node's wall clock reaches a time of day. A server uses
// it for keys that expire by its wall clock, and for rows that contain the time at which
// they expire. When a fault changes the node's clock, the server must set the alarm again.
type Alarm struct {
	host     *sim.Host
	ring     func()
	setCount int // counts the calls of Set, because only the latest one has an effect
}

// NewAlarm returns an alarm that is not set. The world's event loop calls ring, also while
// the node is paused, but not after the node has crashed.
func NewAlarm(h *sim.Host, ring func()) *Alarm { return &Alarm{host: h, ring: ring} }

// Set makes the alarm call ring when the node's wall clock reads t, and cancels the
// previous setting. The zero Time only cancels it.
func (a *Alarm) Set(t time.Time) {
	a.setCount++
	setting := a.setCount
	if t.IsZero() {
		return
	}
	if at, ok := a.host.When(t); ok {
		a.host.At(at, func() {
			if setting == a.setCount && a.host.IsUp() {
				a.ring()
			}
		})
	}
}

// Timers call functions at given readings of a node's monotonic clock. Real servers measure their
// timeouts by that clock, so a jump of the wall clock does not affect them. The world's event loop
// makes the calls. A call that is due during a pause is made when the node runs again. After a
// crash a server must clear its timers.
type Timers struct {
	host    *sim.Host
	pending []*Timer // ordered by due
	alarm   *Alarm
}

// A Timer is one call that [Timers] will make.
type Timer struct {
	due  int64
	call func()
}

// Due returns when the call is due: a reading of the node's monotonic clock, in
// nanoseconds.
func (t *Timer) Due() int64 { return t.due }

// NewTimers returns the timers of a server. When calls are due, they are passed to run as
// one function. run must call that function, and can do more before or after it, such as
// send messages.
func NewTimers(h *sim.Host, run func(func())) *Timers {
	t := &Timers{host: h}
	t.alarm = NewAlarm(h, func() { h.WhenRunning(func() { run(t.fire) }) })
	return t
}

// Now reads the node's monotonic clock, in nanoseconds.
func (t *Timers) Now() int64 { return t.host.Clock().Read(fakeclock.Monotonic).Nanos }

// After makes the timers call f once, when d has passed on the node's monotonic clock.
func (t *Timers) After(d time.Duration, f func()) *Timer { return t.At(t.Now()+int64(d), f) }

// At makes the timers call f once, when the node's monotonic clock reads due, in
// nanoseconds.
func (t *Timers) At(due int64, f func()) *Timer {
	timer := &Timer{due, f}
	i := len(t.pending)
	for i > 0 && t.pending[i-1].due > timer.due {
		i--
	}
	t.pending = slices.Insert(t.pending, i, timer)
	if i == 0 {
		t.Arm()
	}
	return timer
}

// Stop removes a timer. It does nothing if the timer's call was made already, or if the timer
// is nil.
func (t *Timers) Stop(timer *Timer) {
	if i := slices.Index(t.pending, timer); i >= 0 {
		t.pending = slices.Delete(t.pending, i, i+1)
	}
}

// Clear removes all timers.
func (t *Timers) Clear() {
	t.pending = nil
	t.Arm()
}

// DueInTrueTime returns the time at which a timer is due, as true time: the time of the world, from
// which the clocks of processes may differ. The result assumes that no fault changes the node's
// clocks before. It returns false while the machine is suspended, because its clocks are stopped.
func (t *Timers) DueInTrueTime(timer *Timer) (time.Duration, bool) {
	return t.host.When(t.wallTimeDue(timer))
}

// wallTimeDue returns what the node's wall clock will read when a timer is due. A world schedules
// only by wall clocks (see [sim.Host.When]). The result is exact because both clocks of a node run
// at the same rate.
func (t *Timers) wallTimeDue(timer *Timer) time.Time {
	return t.host.Clock().Now().Add(time.Duration(max(timer.due-t.Now(), 0)))
}

// Arm schedules the call of the first timer, according to the current readings and rate of the
// node's clocks. A server must call it again when a fault has changed the clocks.
func (t *Timers) Arm() {
	first := time.Time{}
	if len(t.pending) > 0 {
		first = t.wallTimeDue(t.pending[0])
	}
	t.alarm.Set(first)
}

// fire makes all calls that are due, and schedules the next timer.
func (t *Timers) fire() {
	now := t.Now()
	for len(t.pending) > 0 && t.pending[0].due <= now {
		timer := t.pending[0]
		t.pending = t.pending[1:]
		timer.call()
	}
	t.Arm()
}
