package fakeclock_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// start is what the wall clocks of the tests read at true time 0.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A world is a [fakeclock.Timeline] whose true time the test moves.
type world struct {
	mu    sync.Mutex
	now   time.Duration
	alarm *alarm // nil if it is not set
}

// An alarm is a function that the timeline calls at a true time.
type alarm struct {
	at   time.Duration
	ring func()
}

func (w *world) Now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) SetAlarm(t time.Duration, ring func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alarm = &alarm{max(t, w.now), ring}
}

func (w *world) ClearAlarm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alarm = nil
}

// pop removes and returns the alarm if it is due by t, and moves true time to it. ok is false if
// there is none.
func (w *world) pop(t time.Duration) (ring func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alarm == nil || w.alarm.at > t {
		w.now = t
		return nil, false
	}
	w.now, ring = w.alarm.at, w.alarm.ring
	w.alarm = nil
	return ring, true
}

// runTo moves true time to t and makes the alarms ring that are due until then. It must run in a
// bubble.
func (w *world) runTo(t time.Duration) {
	synctest.Wait()
	for {
		ring, ok := w.pop(t)
		if !ok {
			return
		}
		ring()
		synctest.Wait()
	}
}

// inWorld runs a test in a synctest bubble, with the clocks of one process.
func inWorld(t *testing.T, test func(t *testing.T, w *world, c *fakeclock.Fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := fakeclock.New(w, start)
		defer synctest.Wait()
		defer c.Close()
		test(t, w, c)
	})
}

// wall and mono return a reading of a clock as the time since the process started.
func wall(c *fakeclock.Fake) time.Duration { return c.Now().Sub(start) }

func mono(c *fakeclock.Fake) time.Duration {
	return time.Duration(c.Read(fakeclock.Monotonic).Nanos)
}
