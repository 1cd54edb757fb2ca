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
		c.link(clock, d)
		if c.Err() != nil { // it ended before it was linked
			c.unlink()
		}
	}
	return c, func() { c.end(context.Canceled) }
}

// A timeoutContext is the context that [WithTimeout] returns.
type timeoutContext struct {
	context.Context // the parent
	deadline        time.Time
	done            chan struct{}
	// timer is the context's timer on fake. fake is nil if the clock is not a Fake, and if the
	// context had ended before it was linked.
	timer timer
	fake  timerSetter

	mu  sync.Mutex
	err error
	// children are woken with err when the context ends.
	children []sleeper
	// stopTimer stops the timer of a clock that is not a Fake. stopParent ends the link to a
	// parent that is not a timeoutContext. Otherwise they are nil.
	stopTimer, stopParent func() bool
}

// A timerSetter is a [Fake], or a clock that embeds one.
type timerSetter interface {
	set(*timer, time.Duration)
	unset(*timer) bool
}

// A childFunc is a child that package context has passed to AfterFunc. It is a struct so that its
// pointer identifies it.
type childFunc struct{ cancel func() }

func (f *childFunc) wake(error) { f.cancel() }

// link sets the context's timer and makes the context end when its parent ends. A timer of this
// package and a parent of this package need no functions of their own for that. Clients make a
// context for each of their requests, so this saves a search several percent of its time.
func (c *timeoutContext) link(clock Clock, d time.Duration) {
	if fake, ok := clock.(timerSetter); ok {
		c.fake = fake
		c.timer.sleeper = c
		fake.set(&c.timer, d)
	} else {
		c.mu.Lock()
		c.stopTimer = clock.AfterFunc(d, func() { c.wake(nil) })
		c.mu.Unlock()
	}
	if parent, ok := c.Context.(*timeoutContext); ok {
		if err := parent.adopt(c); err != nil {
			c.end(err)
		}
		return
	}
	c.mu.Lock()
	c.stopParent = context.AfterFunc(c.Context, func() { c.end(c.Context.Err()) })
	c.mu.Unlock()
}

// unlink undoes link. It may be called twice.
func (c *timeoutContext) unlink() {
	if c.fake != nil {
		c.fake.unset(&c.timer)
	}
	if parent, ok := c.Context.(*timeoutContext); ok {
		parent.forget(c)
	}
	c.mu.Lock()
	stopTimer, stopParent := c.stopTimer, c.stopParent
	c.mu.Unlock()
	if stopTimer != nil {
		stopTimer()
	}
	if stopParent != nil {
		stopParent()
	}
}

// wake ends the context: with an error, or with [context.DeadlineExceeded] if the error is nil. The
// timer calls wake, and so does a parent of the same type.
func (c *timeoutContext) wake(err error) {
	if err == nil {
		err = context.DeadlineExceeded
	}
	c.end(err)
}

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
	f := &childFunc{cancel}
	if c.adopt(f) != nil {
		// cancel must run in another goroutine, to avoid a deadlock: package context has
		// locked the child while it calls AfterFunc, and cancel locks it too.
		go cancel()
	}
	return func() bool { return c.forget(f) }
}

// adopt adds a child, unless the context has ended; then it returns the context's error.
func (c *timeoutContext) adopt(ch sleeper) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.children = append(c.children, ch)
	}
	return c.err
}

// forget removes a child, and reports whether it was one.
func (c *timeoutContext) forget(ch sleeper) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.children, ch)
	if i < 0 {
		return false
	}
	c.children = slices.Delete(c.children, i, i+1)
	return true
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
	children := c.children
	c.children = nil
	close(c.done)
	c.mu.Unlock()
	c.unlink()
	for _, ch := range children {
		ch.wake(err)
	}
}
