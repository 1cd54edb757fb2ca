package fakeclock_test

import (
	"slices"
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
	calls []*call
}

// A call is a function that the timeline calls at a true time.
type call struct {
	at time.Duration
	f  func()
}

func (w *world) Now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) At(t time.Duration, f func()) (cancel func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &call{max(t, w.now), f}
	w.calls = append(w.calls, c)
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		i := slices.Index(w.calls, c)
		if i < 0 {
			return false
		}
		w.calls = slices.Delete(w.calls, i, i+1)
		return true
	}
}

// pop removes and returns the earliest call that is due by t, and moves true time to it. ok
// is false if there is none.
func (w *world) pop(t time.Duration) (f func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := -1
	for i, c := range w.calls {
		if c.at <= t && (first < 0 || c.at < w.calls[first].at) {
			first = i
		}
	}
	if first < 0 {
		w.now = t
		return nil, false
	}
	c := w.calls[first]
	w.calls = slices.Delete(w.calls, first, first+1)
	w.now = c.at
	return c.f, true
}

// runTo moves true time to t and makes the calls that are due until then. It must run in a
// bubble.
func (w *world) runTo(t time.Duration) {
	synctest.Wait()
	for {
		f, ok := w.pop(t)
		if !ok {
			return
		}
		f()
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
