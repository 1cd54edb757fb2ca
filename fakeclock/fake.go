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

// Timeline is the true time of a simulated world: the time that passes, whatever the clocks of its
// processes show. It has one alarm, for the timers of one [Fake]. All methods may be called from any
// goroutine. A Fake calls them while it holds its mutex, so they must not call the Fake before they
// return.
type Timeline interface {
	// Now is the true time since the start of the world; it never goes back.
	Now() time.Duration
	// SetAlarm makes the timeline call ring once, at true time t, or soon if t has passed. The
	// alarm that was set before no longer rings.
	SetAlarm(t time.Duration, ring func())
	// ClearAlarm makes the alarm not ring, if it is set. It may be too late for that.
	ClearAlarm()
}

// ErrClosed is the error of a clock after [Fake.Close]. It wraps [context.Canceled],
// because the world of the process has been cancelled.
var ErrClosed = fmt.Errorf("clock closed: %w", context.Canceled)

// Fake provides the clocks of one simulated process. Its methods may be called from any
// goroutine.
//
// Both clocks count the ticks of one oscillator, which may run fast or slow. All arithmetic
// is on integers and exact, so errors do not accumulate when the rate changes. Readings are
// rounded down to a nanosecond, and the true times of timers are rounded up. Readings are
// valid while they fit in 64 bits of nanoseconds, which is until the year 2262 for the wall
// clock.
//
// Timers fire in the order of their due times. All timers with the same due time fire in
// one call from the timeline. If several goroutines set such timers at the same time, the
// order among them may depend on chance.
type Fake struct {
	timeline Timeline

	mu         sync.Mutex
	oscillator oscillator
	// A clock reads the oscillator's ticks plus the clock's offset, in nanoseconds.
	wallOffset, monotonicOffset int64
	// stopped reports that the process is stopped, and suspended that its machine is
	// suspended.
	stopped   bool
	suspended bool
	// suspendedAt is the count of the oscillator when the machine was suspended.
	suspendedAt int64
	closed      bool

	timers     []*timer // in firing order
	timerCount uint64   // timers set so far
	ring       func()   // f.fire, as the function of every alarm
	// watchers are the functions of OnChange.
	watchers []func(why string)
}

// maxWait is the longest wait of a timer, 146 years. It is half of the range of int64, so
// that adding it to a clock's reading does not overflow.
const maxWait = math.MaxInt64 / 2

// A timer wakes its sleeper once: with nil when the monotonic clock reads due, or with ErrClosed
// when the clock is closed. number puts timers with the same due time in order.
type timer struct {
	due     int64
	number  uint64
	sleeper sleeper
}

// A sleeper waits for a timer. The world's event loop may call wake, so wake must not block.
type sleeper interface{ wake(error) }

// A sleeperFunc is the wake of a sleeper.
type sleeperFunc func(error)

func (f sleeperFunc) wake(err error) { f(err) }

// compare returns the order in which two timers fire.
func (t *timer) compare(u *timer) int {
	return cmp.Or(cmp.Compare(t.due, u.due), cmp.Compare(t.number, u.number))
}

// New returns the clocks of a process that starts now: its wall clock reads
// start, its monotonic clock 0, and both keep true time.
func New(timeline Timeline, start time.Time) *Fake {
	f := &Fake{
		timeline:   timeline,
		oscillator: oscillator{base: timeline.Now(), speed: nominalSpeed},
		wallOffset: start.UnixNano(),
	}
	f.ring = f.fire
	return f
}

// ticks returns the count of the oscillator now, or at the suspension if the machine is
// suspended.
func (f *Fake) ticks() int64 {
	if f.suspended {
		return f.suspendedAt
	}
	ticks, _ := f.oscillator.countAt(f.timeline.Now())
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
		return Reading{Clock: Monotonic, Nanos: f.ticks() + f.monotonicOffset}
	}
	return Reading{Clock: Wall, Nanos: f.ticks() + f.wallOffset}
}

// State holds the readings of a process's clocks at one moment, and their rate.
type State struct {
	// Wall and Monotonic are nanoseconds, as in [Reading].
	Wall, Monotonic int64
	// RatePPB is how much too fast both clocks run, in parts per billion.
	RatePPB int64
	// Halted reports that both clocks are stopped because the machine is suspended.
	Halted bool
}

// State reads both clocks at the same moment.
func (f *Fake) State() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	ticks := f.ticks()
	return State{
		Wall:      ticks + f.wallOffset,
		Monotonic: ticks + f.monotonicOffset,
		RatePPB:   int64(f.oscillator.speed) - nominalSpeed,
		Halted:    f.suspended,
	}
}

// Jump sets the wall clock forward by d, or back if d is negative. On a suspended machine
// the reading changes immediately, and the jump still applies after it has resumed.
func (f *Fake) Jump(d time.Duration) {
	f.mu.Lock()
	f.wallOffset += int64(d)
	f.unlockAndNotify("jump")
}

// MaxRatePPB is the limit of [Fake.SetRate]: a clock runs less than this too fast, in parts
// per billion. It allows more than twice the normal speed, because several drifts of one
// clock multiply.
const MaxRatePPB = 10_000_000_000

// SetRate makes both clocks run ppb parts per billion too fast from now on, or too slow if
// ppb is negative. It returns an error if ppb is not between -1e9 and [MaxRatePPB], both
// excluded. A rate of -1e9 would be a stopped clock, and at 10e9 a clock is broken, not
// drifting.
func (f *Fake) SetRate(ppb int64) error {
	if ppb <= -nominalSpeed || ppb >= MaxRatePPB {
		return fmt.Errorf("clock rate of %d parts per billion: must be more than %d and less than %d", ppb, -nominalSpeed, int64(MaxRatePPB))
	}
	f.mu.Lock()
	f.oscillator.setSpeed(f.timeline.Now(), uint64(nominalSpeed+ppb))
	f.scheduleFire()
	f.unlockAndNotify("drift")
	return nil
}

// Rate returns how much too fast both clocks run, in parts per billion.
func (f *Fake) Rate() int64 { return f.State().RatePPB }

// Stop stops the process, as SIGSTOP or a garbage collection does. Both clocks keep
// running, but no timer fires before [Fake.Resume].
func (f *Fake) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	f.scheduleFire()
}

// Suspend suspends the machine that the process runs on. Both clocks stop, and no timer
// fires until [Fake.Resume] or [Fake.Wake]. Then the monotonic clock continues from the
// same reading, and the wall clock jumps to what it would have read without the suspension.
func (f *Fake) Suspend() {
	f.mu.Lock()
	if f.suspended {
		f.mu.Unlock()
		return
	}
	f.suspendedAt = f.ticks()
	f.suspended = true
	f.scheduleFire()
	f.unlockAndNotify("suspend")
}

// Resume ends the effects of both [Fake.Stop] and [Fake.Suspend].
func (f *Fake) Resume() {
	f.mu.Lock()
	f.stopped = false
	f.endSuspension()
}

// Wake ends the effect of [Fake.Suspend] only: if the process was also stopped, it stays
// stopped.
func (f *Fake) Wake() {
	f.mu.Lock()
	f.endSuspension()
}

// endSuspension ends the suspension, if there is one, and schedules the next timer. The
// caller must have locked f.mu; endSuspension unlocks it.
func (f *Fake) endSuspension() {
	if !f.suspended {
		f.scheduleFire()
		f.mu.Unlock()
		return
	}
	f.suspended = false
	f.monotonicOffset -= f.ticks() - f.suspendedAt
	f.scheduleFire()
	f.unlockAndNotify("resume")
}

// NextWall returns the first true time, not before now, at which the wall clock will read
// wall or later if nothing changes. ok is false while the machine is suspended, or if that
// time exceeds the range of time.Duration.
func (f *Fake) NextWall(wall time.Time) (at time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.suspended {
		return 0, false
	}
	at, ok = f.oscillator.timeOfCount(wall.UnixNano() - f.wallOffset)
	return max(at, f.timeline.Now()), ok
}

// OnChange makes the clock call watch after every change. why is "jump", "drift", "suspend", or
// "resume" after a suspension. [Fake.Stop], and a Resume that ends only a Stop, change no clock, so
// they call no watcher. Watchers are called in the order in which they were added, by the goroutine
// that made the change. They may use the clock.
func (f *Fake) OnChange(watch func(why string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = append(f.watchers, watch)
}

// unlockAndNotify unlocks f.mu and then calls the watchers, which may use the clock.
func (f *Fake) unlockAndNotify(why string) {
	watchers := f.watchers
	f.mu.Unlock()
	for _, watch := range watchers {
		watch(why)
	}
}

// Close ends the clock, when the world ends. Every current and later [Fake.Sleep], and
// every context of [WithTimeout] on this clock, ends immediately with ErrClosed. Functions
// of [Fake.AfterFunc] are no longer called.
func (f *Fake) Close() {
	f.mu.Lock()
	f.closed = true
	timers := f.timers
	f.timers = nil
	f.scheduleFire()
	f.mu.Unlock()
	for _, t := range timers {
		t.sleeper.wake(ErrClosed)
	}
}

// Sleep returns nil when d has passed on the monotonic clock and the process is running. If
// ctx ends first, it returns the cause of ctx. It returns ErrClosed when the clock is
// closed.
func (f *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	woken := make(chan error, 1)
	t := &timer{sleeper: sleeperFunc(func(err error) { woken <- err })}
	f.set(t, d)
	select {
	case err := <-woken:
		return err
	case <-ctx.Done():
		if !f.unset(t) {
			// The timer has fired and ctx has ended. select chose one of the two by chance.
			// The result must not depend on chance, so the timer always wins.
			return <-woken
		}
		return context.Cause(ctx)
	}
}

// AfterFunc calls call in its own goroutine when d has passed on the monotonic clock and
// the process is running. stop cancels the call, and reports false if it is too late for
// that. After Close nothing is called, and stop reports false.
func (f *Fake) AfterFunc(d time.Duration, call func()) (stop func() bool) {
	t := &timer{sleeper: sleeperFunc(func(err error) {
		if err == nil {
			go call()
		}
	})}
	f.set(t, d)
	return func() bool { return f.unset(t) }
}

// set sets a timer, which wakes its sleeper once: with nil when d has passed on the monotonic clock
// and the process is running, or with ErrClosed when the clock is closed.
func (f *Fake) set(t *timer, d time.Duration) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		t.sleeper.wake(ErrClosed)
		return
	}
	defer f.mu.Unlock()
	d = min(max(d, 0), maxWait)
	t.due = f.ticks() + f.monotonicOffset + int64(d)
	t.number = f.timerCount
	f.timerCount++
	i, _ := slices.BinarySearchFunc(f.timers, t, (*timer).compare)
	f.timers = slices.Insert(f.timers, i, t)
	if i == 0 {
		f.scheduleFire()
	}
}

// unset cancels a timer. It reports false if it is too late for that: the timer's sleeper was woken,
// or is being woken.
func (f *Fake) unset(t *timer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, set := slices.BinarySearchFunc(f.timers, t, (*timer).compare)
	if !set || f.timers[i] != t {
		return false
	}
	f.timers = slices.Delete(f.timers, i, i+1)
	if i == 0 {
		f.scheduleFire()
	}
	return true
}

// scheduleFire makes the timeline call fire when the next timer is due. It schedules no call while
// the process is stopped or suspended. scheduleFire must be called after every change of the clocks,
// of the process's state and of the first timer.
func (f *Fake) scheduleFire() {
	if !f.closed && !f.stopped && !f.suspended && len(f.timers) > 0 {
		if due, ok := f.oscillator.timeOfCount(f.timers[0].due - f.monotonicOffset); ok {
			f.timeline.SetAlarm(max(due, f.timeline.Now()), f.ring)
			return
		}
	}
	f.timeline.ClearAlarm()
}

// fire wakes all timers that have the earliest due time, if that time has come. It reads the clock
// again: the timeline may have begun this call just before a change of the clock, and then the call
// comes too early.
func (f *Fake) fire() {
	f.mu.Lock()
	var due []*timer
	if !f.stopped && !f.suspended && len(f.timers) > 0 && f.timers[0].due <= f.ticks()+f.monotonicOffset {
		n := 1
		for n < len(f.timers) && f.timers[n].due == f.timers[0].due {
			n++
		}
		due = slices.Clone(f.timers[:n])
		f.timers = slices.Delete(f.timers, 0, n)
	}
	f.scheduleFire()
	f.mu.Unlock()
	for _, t := range due {
		t.sleeper.wake(nil)
	}
}

var _ Clock = (*Fake)(nil)
