package fakeclock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

func TestWithTimeoutInAStoppedProcess(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, 5*time.Second)
		defer cancel()
		child, cancelChild := context.WithCancel(ctx)
		defer cancelChild()
		w.runTo(time.Second)
		c.Stop()
		w.runTo(time.Minute)
		if ctx.Err() != nil || child.Err() != nil {
			t.Fatalf("ended with %v, its child with %v, while the process was stopped", ctx.Err(), child.Err())
		}
		c.Resume()
		w.runTo(time.Minute)
		if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != context.DeadlineExceeded {
			t.Errorf("ended with %v, cause %v", ctx.Err(), context.Cause(ctx))
		}
		if child.Err() != context.DeadlineExceeded {
			t.Errorf("child ended with %v", child.Err())
		}
	})
}

func TestWithTimeoutRunsOnTheProcesssClock(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		must(t, c.SetRate(-50*percent))
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, 5*time.Second)
		defer cancel()
		w.runTo(10*time.Second - 1)
		if ctx.Err() != nil {
			t.Errorf("ended early: %v", ctx.Err())
		}
		w.runTo(10 * time.Second)
		if ctx.Err() != context.DeadlineExceeded {
			t.Errorf("after 10s at half speed: %v", ctx.Err())
		}
	})
}

func TestWithTimeoutEndsWithItsParent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		enough := errors.New("enough")
		parent, cancelParent := context.WithCancelCause(t.Context())
		ctx, cancel := fakeclock.WithTimeout(parent, c, time.Hour)
		defer cancel()
		cancelParent(enough)
		synctest.Wait()
		if ctx.Err() != context.Canceled || context.Cause(ctx) != enough {
			t.Errorf("ended with %v, cause %v", ctx.Err(), context.Cause(ctx))
		}
		if len(w.calls) != 0 {
			t.Error("its timer is still set")
		}
		late, cancel := fakeclock.WithTimeout(parent, c, time.Hour)
		defer cancel()
		if late.Err() != context.Canceled {
			t.Errorf("a child of a dead parent began with %v", late.Err())
		}
	})
}

func TestWithTimeoutCancel(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		child, cancelChild := context.WithTimeout(ctx, time.Minute)
		defer cancelChild()
		inner, cancelInner := fakeclock.WithTimeout(child, c, time.Second)
		defer cancelInner()
		cancel()
		cancel()
		if ctx.Err() != context.Canceled || child.Err() != context.Canceled {
			t.Errorf("ended with %v, its child with %v", ctx.Err(), child.Err())
		}
		synctest.Wait()
		if inner.Err() != context.Canceled {
			t.Errorf("grandchild ended with %v", inner.Err())
		}
		if len(w.calls) != 0 {
			t.Error("timers are still set")
		}
		select {
		case <-ctx.Done():
		default:
			t.Error("Done is not closed")
		}
	})
}

// A context that has not ended must not keep a reference to a child that has ended.
func TestWithTimeoutForgetsChildren(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		defer cancel()
		called := false
		stop := context.AfterFunc(ctx, func() { called = true })
		if !stop() || stop() {
			t.Error("stop must report true once")
		}
		cancel()
		synctest.Wait()
		if called {
			t.Error("called although it was stopped")
		}
	})
}

func TestWithTimeoutDeadline(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		now := time.Now()
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Minute)
		defer cancel()
		if at, ok := ctx.Deadline(); !ok || !at.Equal(now.Add(time.Minute)) {
			t.Errorf("Deadline() = %v, %v; want a minute from time.Now", at, ok)
		}
		parent, cancelParent := context.WithTimeout(t.Context(), time.Second)
		defer cancelParent()
		ctx, cancel = fakeclock.WithTimeout(parent, c, time.Minute)
		defer cancel()
		if at, ok := ctx.Deadline(); !ok || !at.Equal(now.Add(time.Second)) {
			t.Errorf("Deadline() = %v, %v; want the parent's", at, ok)
		}
		over, cancel := fakeclock.WithTimeout(t.Context(), c, 0)
		defer cancel()
		if over.Err() != context.DeadlineExceeded {
			t.Errorf("a timeout of 0 began with %v", over.Err())
		}
	})
}

// Package context calls AfterFunc while it has locked the child. If the parent has ended
// already, AfterFunc must not call cancel itself, because cancel locks the child again.
func TestWithTimeoutTellsLateChildrenLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		cancel()
		var locked sync.Mutex
		told := false
		locked.Lock()
		stop := ctx.(interface{ AfterFunc(func()) func() bool }).AfterFunc(func() {
			locked.Lock()
			defer locked.Unlock()
			told = true
		})
		locked.Unlock()
		synctest.Wait()
		locked.Lock()
		defer locked.Unlock()
		if !told || stop() {
			t.Errorf("a child that came late: told %v, and stop must have nothing to prevent", told)
		}
	})
}
