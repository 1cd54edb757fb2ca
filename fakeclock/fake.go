package fakeclock

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Timeline is the true time of a world. Both methods may be called from any
// goroutine. They are called with a [Fake]'s lock held, so they must not call
// back before they return.
type Timeline interface {
	// Now is the true time since the start of the world; it never goes back.
	Now() time.Duration
	// At calls f once on the world's loop, at true time t, or soon if t has passed. cancel
	// reports whether it prevented the call.
	At(t time.Duration, f func()) (cancel func() bool)
}

// ErrClosed is the error of a clock after [Fake.Close]. It is a [context.Canceled], because
// the process's world has been cancelled.
var ErrClosed = fmt.Errorf("clock closed: %w", context.Canceled)

// Fake is the clocks of one simulated process. Its methods may be called from any
// goroutine.
//
// Both clocks count the ticks of one oscillator, which may run fast or slow. All arithmetic
// is on integers and exact: readings are rounded down to a nanosecond, moments are rounded
// up, and errors do not accumulate over changes. Readings are valid as long as they fit in
// 64 bits of nanoseconds, which for the wall clock is until the year 2262.
//
// Timers fire in the order of the moments for which they were set, and the timeline makes
// one call for each moment. Timers of one moment fire together: if several goroutines set
// them at the same time, their order may depend on chance.
type Fake struct {
	timeline Timeline

	mu         sync.Mutex
	oscillator oscillator
	// Each clock reads the oscillator's ticks plus its offset.
	wall, monotonic int64
	stopped         bool
	suspended       bool
	// suspendedAt is the oscillator's ticks when the machine was suspended.
	suspendedAt int64
	closed      bool

	timers     []*timer // in firing order
	timerCount uint64   // how many timers have been set
	cancelWake func() bool
	watchers   []func(why string)
}

// maxWait is a wait of 146 years. It is long enough, and so far from the end of int64 that
// no offset makes a sum overflow.
const maxWait = math.MaxInt64 / 2

// A timer calls wake once: with nil when the monotonic clock reads due, or with
// ErrClosed.
type timer struct {
	due    int64
	number uint64
	wake   func(error)
}

func (t *timer) compare(u *timer) int {
	return cmp.Or(cmp.Compare(t.due, u.due), cmp.Compare(t.number, u.number))
}

// New returns the clocks of a process that starts now: its wall clock reads
// start, its monotonic clock 0, and both keep true time.
func New(tl Timeline, start time.Time) *Fake {
	return &Fake{
		timeline:   tl,
		oscillator: oscillator{base: tl.Now(), speed: nominalSpeed},
		wall:       start.UnixNano(),
	}
}

// ticks returns the oscillator's count for the process: the current count, or the count at
// which the machine was suspended.
func (f *Fake) ticks() int64 {
	if f.suspended {
		return f.suspendedAt
	}
	ticks, _ := f.oscillator.at(f.timeline.Now())
	return ticks
}

// Now returns the wall clock's time of day, in UTC.
func (f *Fake) Now() time.Time {
	return time.Unix(0, f.Read(Wall).Nanos).UTC()
}

// Read reads one clock.
func (f *Fake) Read(k Kind) Reading {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k == Monotonic {
		return Reading{Clock: Monotonic, Nanos: f.ticks() + f.monotonic}
	}
	return Reading{Clock: Wall, Nanos: f.ticks() + f.wall}
}

// State is what a process's clocks read at one moment, and how they run.
type State struct {
	// Wall and Monotonic are nanoseconds, as in [Reading].
	Wall, Monotonic int64
	// RatePPB is how much too fast both clocks run, in parts per billion.
	RatePPB int64
	// Halted reports that both clocks stand still because the machine is suspended.
	Halted bool
}

// State reads both clocks at the same moment.
func (f *Fake) State() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	ticks := f.ticks()
	return State{
		Wall:      ticks + f.wall,
		Monotonic: ticks + f.monotonic,
		RatePPB:   int64(f.oscillator.speed) - nominalSpeed,
		Halted:    f.suspended,
	}
}

// Jump sets the wall clock forward by d, or back if d is negative. A suspended machine
// shows the jump immediately and keeps it when it resumes.
func (f *Fake) Jump(d time.Duration) {
	f.mu.Lock()
	f.wall += int64(d)
	f.unlockAndNotify("jump")
}

// MaxRatePPB bounds how much too fast a clock can run, in parts per billion. Several drifts
// that act together can make it run at more than twice the speed.
const MaxRatePPB = 10_000_000_000

// SetRate makes both clocks run ppb parts per billion too fast from now on, or too slow if
// ppb is negative. It returns an error if ppb is not between -1e9 and [MaxRatePPB], both
// excluded. A clock can neither stand still nor go back, and a clock that runs ten times
// too fast is broken, not drifting.
func (f *Fake) SetRate(ppb int64) error {
	if ppb <= -nominalSpeed || ppb >= MaxRatePPB {
		return fmt.Errorf("clock rate of %d parts per billion: must be more than %d and less than %d", ppb, -nominalSpeed, int64(MaxRatePPB))
	}
	f.mu.Lock()
	f.oscillator.set(f.timeline.Now(), uint64(nominalSpeed+ppb))
	f.arm()
	f.unlockAndNotify("drift")
	return nil
}

// Rate returns how much too fast both clocks run, in parts per billion.
func (f *Fake) Rate() int64 { return f.State().RatePPB }

// Stop stops the process, as SIGSTOP and garbage collection do: both clocks keep running,
// but no timer fires before [Fake.Resume].
func (f *Fake) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	f.arm()
}

// Suspend suspends the machine that the process runs on: both clocks stand still and no
// timer fires until [Fake.Resume]. Then the monotonic clock continues from where it stood,
// and the wall clock jumps to what it would have read.
func (f *Fake) Suspend() {
	f.mu.Lock()
	if f.suspended {
		f.mu.Unlock()
		return
	}
	f.suspendedAt = f.ticks()
	f.suspended = true
	f.arm()
	f.unlockAndNotify("suspend")
}

// Resume ends both [Fake.Stop] and [Fake.Suspend].
func (f *Fake) Resume() {
	f.mu.Lock()
	f.stopped = false
	f.wake()
}

// Wake ends only [Fake.Suspend]: a process that is stopped stays stopped.
func (f *Fake) Wake() {
	f.mu.Lock()
	f.wake()
}

// wake ends a suspension, if there is one. It must be called with f.mu locked, and unlocks
// it.
func (f *Fake) wake() {
	if !f.suspended {
		f.arm()
		f.mu.Unlock()
		return
	}
	f.suspended = false
	f.monotonic -= f.ticks() - f.suspendedAt
	f.arm()
	f.unlockAndNotify("resume")
}

// NextWall returns the first true time, not before now, at which the wall clock will read
// wall or later if nothing changes. ok is false while the machine is suspended, or if that
// time is out of range.
func (f *Fake) NextWall(wall time.Time) (at time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.suspended {
		return 0, false
	}
	at, ok = f.oscillator.when(wall.UnixNano() - f.wall)
	return max(at, f.timeline.Now()), ok
}

// OnChange makes the clock call watch after every change, with the reason: "jump", "drift",
// "suspend", or "resume" after a suspension. [Fake.Stop] and the Resume that ends it change
// no clock. Watchers are called in the order in which they were added, by the goroutine
// that made the change, and may use the clock.
func (f *Fake) OnChange(watch func(why string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = append(f.watchers, watch)
}

func (f *Fake) unlockAndNotify(why string) {
	watchers := f.watchers
	f.mu.Unlock()
	for _, watch := range watchers {
		watch(why)
	}
}

// Close ends the process's time. Every [Fake.Sleep], and every context of [WithTimeout] on
// this clock, ends immediately with ErrClosed, including later ones. No timer fires any
// more.
func (f *Fake) Close() {
	f.mu.Lock()
	f.closed = true
	timers := f.timers
	f.timers = nil
	f.arm()
	f.mu.Unlock()
	for _, t := range timers {
		t.wake(ErrClosed)
	}
}

// Sleep returns nil once d has passed on the monotonic clock and the process is running. It
// returns ctx's cause as soon as ctx is done, and ErrClosed when the clock is closed.
func (f *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	woken := make(chan error, 1)
	stop := f.after(d, func(err error) { woken <- err })
	select {
	case err := <-woken:
		return err
	case <-ctx.Done():
		if !stop() {
			// Both happened. Which of the two select chose is chance, so the timer always
			// wins.
			return <-woken
		}
		return context.Cause(ctx)
	}
}

// AfterFunc calls call in its own goroutine once d has passed on the monotonic clock and
// the process is running. stop reports whether it prevented the call. After Close nothing
// is called, and stop reports false.
func (f *Fake) AfterFunc(d time.Duration, call func()) (stop func() bool) {
	return f.after(d, func(err error) {
		if err == nil {
			go call()
		}
	})
}

// after calls wake once: with nil on the world's loop when d has passed on the monotonic
// clock and the process is running, or with ErrClosed. wake must not block. stop reports
// whether it prevented the call.
func (f *Fake) after(d time.Duration, wake func(error)) (stop func() bool) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		wake(ErrClosed)
		return func() bool { return false }
	}
	defer f.mu.Unlock()
	d = min(max(d, 0), maxWait)
	t := &timer{due: f.ticks() + f.monotonic + int64(d), number: f.timerCount, wake: wake}
	f.timerCount++
	i, _ := slices.BinarySearchFunc(f.timers, t, (*timer).compare)
	f.timers = slices.Insert(f.timers, i, t)
	if i == 0 {
		f.arm()
	}
	return func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		i, set := slices.BinarySearchFunc(f.timers, t, (*timer).compare)
		if !set {
			return false
		}
		f.timers = slices.Delete(f.timers, i, i+1)
		if i == 0 {
			f.arm()
		}
		return true
	}
}

// arm asks the timeline for a call when the next timer is due, or for none if no timer can
// fire in the current state. It must be called after every change of the clocks, of the
// process's state and of the first timer.
func (f *Fake) arm() {
	if f.cancelWake != nil {
		f.cancelWake()
		f.cancelWake = nil
	}
	if f.closed || f.stopped || f.suspended || len(f.timers) == 0 {
		return
	}
	due, ok := f.oscillator.when(f.timers[0].due - f.monotonic)
	if ok {
		f.cancelWake = f.timeline.At(max(due, f.timeline.Now()), f.fire)
	}
}

// fire wakes the first timers if they are due. It reads the clock again, because a call
// that the timeline could no longer cancel may come after a change.
func (f *Fake) fire() {
	f.mu.Lock()
	var due []*timer
	if !f.stopped && !f.suspended && len(f.timers) > 0 && f.timers[0].due <= f.ticks()+f.monotonic {
		n := 1
		for n < len(f.timers) && f.timers[n].due == f.timers[0].due {
			n++
		}
		due = slices.Clone(f.timers[:n])
		f.timers = slices.Delete(f.timers, 0, n)
	}
	f.arm()
	f.mu.Unlock()
	for _, t := range due {
		t.wake(nil)
	}
}

var _ Clock = (*Fake)(nil)
