package postgres

import (
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// timers call what the server does later by its monotonic clock. (The real one asks the kernel
// for an alarm after so much time, and looks at the time of day when that comes, so that there
// a clock that was set back can make a timeout late.) What falls due in a pause is called when
// the server runs again, and a crash forgets all.
type timers struct {
	s    *server
	all  []*timer // the next first
	wake int      // counts the calls that were asked for: only the latest counts
}

type timer struct {
	due  int64 // on the monotonic clock, in nanoseconds
	call func()
}

func (t *timers) now() int64 { return t.s.host.Clock().Read(fakeclock.Monotonic).Nanos }

// after has f called once d has passed.
func (t *timers) after(d time.Duration, f func()) *timer { return t.at(t.now()+int64(d), f) }

func (t *timers) at(due int64, f func()) *timer {
	one := &timer{due, f}
	i := len(t.all)
	for i > 0 && t.all[i-1].due > due {
		i--
	}
	t.all = slices.Insert(t.all, i, one)
	if i == 0 {
		t.arm()
	}
	return one
}

// stop forgets a timer, which may have been called, or be none.
func (t *timers) stop(one *timer) {
	if i := slices.Index(t.all, one); i >= 0 {
		t.all = slices.Delete(t.all, i, i+1)
	}
}

func (t *timers) clear() { t.all = nil }

// arm has the world call when the first timer is due, as the clocks go now. It is to be
// called again when they go otherwise.
func (t *timers) arm() {
	t.wake++
	if len(t.all) == 0 {
		return
	}
	wake := t.wake
	left := max(t.all[0].due-t.now(), 0)
	at, ok := t.s.host.When(t.s.host.Clock().Now().Add(time.Duration(left)))
	if !ok {
		return // the machine is suspended
	}
	t.s.host.At(at, func() {
		if wake == t.wake {
			t.s.host.Running(func() { t.s.turn(t.fire) })
		}
	})
}

// fire calls what is due.
func (t *timers) fire() {
	now := t.now()
	for len(t.all) > 0 && t.all[0].due <= now {
		one := t.all[0]
		t.all = t.all[1:]
		one.call()
	}
	t.arm()
}
