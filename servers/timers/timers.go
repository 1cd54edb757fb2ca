// Package timers is what a simulated server does later by its monotonic clock, as real ones
// measure their limits: no jump of a wall clock reaches it.
package timers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// Timers call what is due, on the world's loop. What falls due in a pause is called when the
// node runs again. They go with what has made them: after a crash a server clears them.
type Timers struct {
	host *sim.Host
	do   func(func())
	all  []*Timer // the next first
	wake int      // counts the calls that were asked for: only the latest counts
}

// A Timer is one call.
type Timer struct {
	due  int64
	call func()
}

// Due is when it is called, by the node's monotonic clock, in nanoseconds.
func (one *Timer) Due() int64 { return one.due }

// New are those of a node, which does in its own way what is due.
func New(host *sim.Host, do func(func())) *Timers { return &Timers{host: host, do: do} }

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
	t.wake++
	t.all = nil
}

// Expires is when a timer is due in true time, if nothing comes between; false if the
// machine stands still.
func (t *Timers) Expires(one *Timer) (time.Duration, bool) {
	return t.host.When(t.host.Clock().Now().Add(time.Duration(max(one.due-t.Now(), 0))))
}

// Arm has the world call when the first timer is due, as the clocks go now. It is to be called
// when they go otherwise.
func (t *Timers) Arm() {
	t.wake++
	if len(t.all) == 0 {
		return
	}
	wake := t.wake
	at, ok := t.Expires(t.all[0])
	if !ok {
		return
	}
	t.host.At(at, func() {
		if wake == t.wake {
			t.host.Running(func() { t.do(t.fire) })
		}
	})
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
