package fakeclock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// WithTimeout is [context.WithTimeout] on a process's own clock. The context ends with
// [context.DeadlineExceeded] when d has passed on the monotonic clock and the process is
// running. If the process is stopped or suspended then, the context ends on resume. If the
// clock is a [Fake] and is closed, the context ends with ErrClosed. It also ends when
// parent ends or the returned function is called.
//
// The context's Deadline is d after time.Now, whatever the process's clock reads, or the parent's
// deadline if that is earlier. It is a time of time.Now, because code uses it as the deadline of a
// [net.Conn]. If the clock drifts or is suspended, the context does not end at its Deadline.
func WithTimeout(parent context.Context, clock Clock, d time.Duration) (context.Context, context.CancelFunc) {
	c := &timeoutContext{
		Context:  parent,
		deadline: time.Now().Add(d),
		done:     make(chan struct{}),
	}
	if earlier, ok := parent.Deadline(); ok && earlier.Before(c.deadline) {
		c.deadline = earlier
	}
	switch {
	case parent.Err() != nil:
		c.end(parent.Err())
	case d <= 0:
		c.end(context.DeadlineExceeded)
	default:
		stopTimer := after(clock, d, func(err error) {
			if err == nil {
				err = context.DeadlineExceeded
			}
			c.end(err)
		})
		stopParent := context.AfterFunc(parent, func() { c.end(parent.Err()) })
		c.onEnd(func() { stopTimer(); stopParent() })
	}
	return c, func() { c.end(context.Canceled) }
}

// after calls wake once: with nil when d has passed on the clock, or with ErrClosed if the clock is
// a [Fake] and is closed. stop cancels the call; it reports false if wake was called before.
func after(clock Clock, d time.Duration, wake func(error)) (stop func() bool) {
	if f, ok := clock.(interface {
		after(time.Duration, func(error)) func() bool
	}); ok {
		return f.after(d, wake)
	}
	return clock.AfterFunc(d, func() { wake(nil) })
}

// A timeoutContext is the context that [WithTimeout] returns.
type timeoutContext struct {
	context.Context // the parent
	deadline        time.Time
	done            chan struct{}

	mu       sync.Mutex
	err      error
	children []*child
	// cleanUp stops the timer and the link to the parent; nil before it is set and after it
	// was called.
	cleanUp func()
}

// A child is a function that must be called when the context ends. It is a struct so that
// its pointer identifies it.
type child struct{ cancel func() }

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} { return c.done }

func (c *timeoutContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc makes the context call cancel when it ends. Package context looks for this method in
// contexts of other packages. Without it, package context would start a goroutine for each child
// context, which waits for the parent to end. The functions that package context passes do not
// block, so end calls them one after the other, in the order in which they were added.
func (c *timeoutContext) AfterFunc(cancel func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		// cancel must run in another goroutine, to avoid a deadlock: package context has
		// locked the child while it calls AfterFunc, and cancel locks it too.
		go cancel()
		return func() bool { return false }
	}
	ch := &child{cancel}
	c.children = append(c.children, ch)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.children, ch)
		if i < 0 {
			return false
		}
		c.children = slices.Delete(c.children, i, i+1)
		return true
	}
}

// onEnd makes the context call cleanUp when it ends. If it has ended already, onEnd calls
// cleanUp itself: the timer may fire before WithTimeout reaches this call.
func (c *timeoutContext) onEnd(cleanUp func()) {
	c.mu.Lock()
	if c.err == nil {
		c.cleanUp = cleanUp
		cleanUp = func() {}
	}
	c.mu.Unlock()
	cleanUp()
}

// end ends the context and its children with an error, unless the context has ended
// already.
func (c *timeoutContext) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	children, cleanUp := c.children, c.cleanUp
	c.children, c.cleanUp = nil, nil
	close(c.done)
	c.mu.Unlock()
	if cleanUp != nil {
		cleanUp()
	}
	for _, ch := range children {
		ch.cancel()
	}
}
