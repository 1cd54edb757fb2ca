package fakeclock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// WithTimeout returns a context that ends with [context.DeadlineExceeded] once d has passed
// on the clock's monotonic clock and the process is running. In a process that is stopped
// or suspended it ends on resume. It ends with ErrClosed when the clock is a [Fake] that is
// closed. It also ends as soon as parent ends or cancel is called, as in
// [context.WithTimeout].
//
// Its Deadline is d after time.Now, whatever the clock reads, or the parent's if that is
// earlier. A [net.Conn] derives its deadlines from it, and the runtime keeps those. On a
// clock that drifts or stands still the context therefore does not end at its Deadline.
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

// after calls wake once: with nil when d has passed, or with ErrClosed if the clock is a
// [Fake] that is closed.
func after(clock Clock, d time.Duration, wake func(error)) (stop func() bool) {
	if f, ok := clock.(interface {
		after(time.Duration, func(error)) func() bool
	}); ok {
		return f.after(d, wake)
	}
	return clock.AfterFunc(d, func() { wake(nil) })
}

type timeoutContext struct {
	context.Context // the parent
	deadline        time.Time
	done            chan struct{}

	mu       sync.Mutex
	err      error
	children []*child
	release  func()
}

type child struct{ cancel func() }

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} { return c.done }

func (c *timeoutContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc is the method that the context package looks for in a foreign context. Without
// it every child would keep a goroutine that waits for its parent. The package passes
// functions that do not block, so they are called one after the other, in the order in
// which the children were made.
func (c *timeoutContext) AfterFunc(cancel func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		// cancel must run in another goroutine: the package calls AfterFunc with the child
		// locked, and cancelling locks it again.
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

// onEnd calls release when the context ends, or now if it has ended already. A timer may
// end it before it is completely set up.
func (c *timeoutContext) onEnd(release func()) {
	c.mu.Lock()
	if c.err == nil {
		c.release = release
		release = func() {}
	}
	c.mu.Unlock()
	release()
}

// end ends the context and its children, unless it has ended.
func (c *timeoutContext) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	children, release := c.children, c.release
	c.children, c.release = nil, nil
	close(c.done)
	c.mu.Unlock()
	if release != nil {
		release()
	}
	for _, ch := range children {
		ch.cancel()
	}
}
