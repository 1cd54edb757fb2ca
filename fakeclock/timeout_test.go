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

// A context's timeout cannot end while its process is stopped; it ends on resume.
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
			t.Fatalf("while the process was stopped, the context ended with %v and its child with %v; want neither", ctx.Err(), child.Err())
		}
		c.Resume()
		w.runTo(time.Minute)
		if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != context.DeadlineExceeded {
			t.Errorf("the context ended with %v, cause %v; want DeadlineExceeded for both", ctx.Err(), context.Cause(ctx))
		}
		if child.Err() != context.DeadlineExceeded {
			t.Errorf("the child ended with %v, want DeadlineExceeded", child.Err())
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
			t.Errorf("1 ns before its end the context has the error %v, want none", ctx.Err())
		}
		w.runTo(10 * time.Second)
		if ctx.Err() != context.DeadlineExceeded {
			t.Errorf("after 10s at half speed the context has the error %v, want DeadlineExceeded", ctx.Err())
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
			t.Errorf("the context ended with %v, cause %v; want Canceled, with the parent's cause", ctx.Err(), context.Cause(ctx))
		}
		if w.alarm != nil {
			t.Error("the timer of the ended context is still set")
		}
		late, cancel := fakeclock.WithTimeout(parent, c, time.Hour)
		defer cancel()
		if late.Err() != context.Canceled {
			t.Errorf("the child of an ended parent began with the error %v, want Canceled", late.Err())
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
			t.Errorf("the context ended with %v, its child with %v; want Canceled for both", ctx.Err(), child.Err())
		}
		synctest.Wait()
		if inner.Err() != context.Canceled {
			t.Errorf("the grandchild ended with %v, want Canceled", inner.Err())
		}
		if w.alarm != nil {
			t.Error("timers of the cancelled contexts are still set")
		}
		select {
		case <-ctx.Done():
		default:
			t.Error("the channel Done of the cancelled context is not closed")
		}
	})
}

// A child of a context that was stopped is not called when the context ends.
func TestWithTimeoutForgetsChildren(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		defer cancel()
		called := false
		stop := context.AfterFunc(ctx, func() { called = true })
		if !stop() || stop() {
			t.Error("stop of AfterFunc must return true the first time, and false the second")
		}
		cancel()
		synctest.Wait()
		if called {
			t.Error("the function was called, although it was stopped")
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
			t.Errorf("a context with a timeout of 0 began with the error %v, want DeadlineExceeded", over.Err())
		}
	})
}

// Package context calls AfterFunc while it has locked the child. If the parent has ended
// already, AfterFunc must not call cancel itself, because cancel locks the child again.
func TestWithTimeoutCallsLateChildrenLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, c *fakeclock.Fake) {
		ctx, cancel := fakeclock.WithTimeout(t.Context(), c, time.Hour)
		cancel()
		var locked sync.Mutex
		called := false
		locked.Lock()
		stop := ctx.(interface{ AfterFunc(func()) func() bool }).AfterFunc(func() {
			locked.Lock()
			defer locked.Unlock()
			called = true
		})
		locked.Unlock()
		synctest.Wait()
		locked.Lock()
		defer locked.Unlock()
		if !called || stop() {
			t.Errorf("AfterFunc of an ended context has called its function: %v; want true, and false from stop", called)
		}
	})
}
