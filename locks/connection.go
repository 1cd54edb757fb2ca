package locks

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// dialTimeout bounds a dial, as go-redis does by default.
const dialTimeout = 5 * time.Second

// A connection is what the dialer of a strict go-redis client returns. It opens the real
// connection when it is first used, in the request that needs it and under that request's
// deadline.
//
// go-redis itself dials in the background. A background dial outlives the request that needed
// it, and keeps a place in the pool until it ends. So other requests soon have to wait for a
// place. They wait on a timer that go-redis shares between all clients of the program; in the
// next bubble of testing/synctest that is a fatal error. After as many failed dials as the pool
// has places, go-redis stops dialling for requests. Instead it tries once a second in the
// background, even after the end of the world.
type connection struct {
	dial  func(context.Context) (net.Conn, error)
	clock fakeclock.Clock
	// done ends when Close is called.
	done     context.Context
	endDials context.CancelFunc

	mu                          sync.Mutex
	conn                        net.Conn // nil until the first use
	readDeadline, writeDeadline time.Time
}

// newConnection returns a connection that dial will open, with a timeout on the given clock.
func newConnection(clock fakeclock.Clock, dial func(context.Context) (net.Conn, error)) *connection {
	done, cancel := context.WithCancel(context.Background())
	return &connection{dial: dial, clock: clock, done: done, endDials: cancel}
}

// current returns the real connection, or nil if it has not been opened.
func (c *connection) current() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// ensureDialled returns the real connection, and opens it first if necessary. Only one
// goroutine at a time uses a connection, but Close may be called at the same time.
func (c *connection) ensureDialled() (net.Conn, error) {
	if conn := c.current(); conn != nil {
		return conn, nil
	}
	limit := dialTimeout
	if !c.writeDeadline.IsZero() {
		limit = min(limit, time.Until(c.writeDeadline))
	}
	// The timeout is measured on the process's clock: if the process is paused while it
	// dials, it has the same time left afterwards.
	ctx, cancel := fakeclock.WithTimeout(c.done, c.clock, limit)
	defer cancel()
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done.Err() != nil {
		conn.Close()
		return nil, net.ErrClosed
	}
	c.conn = conn
	if err := conn.SetReadDeadline(c.readDeadline); err != nil {
		return nil, err
	}
	return conn, conn.SetWriteDeadline(c.writeDeadline)
}

// Read and Write dial first if necessary.
func (c *connection) Read(b []byte) (int, error) {
	conn, err := c.ensureDialled()
	if err != nil {
		return 0, err
	}
	return conn.Read(b)
}

func (c *connection) Write(b []byte) (int, error) {
	conn, err := c.ensureDialled()
	if err != nil {
		return 0, err
	}
	return conn.Write(b)
}

// Close also ends an unfinished dial.
func (c *connection) Close() error {
	c.endDials()
	if conn := c.current(); conn != nil {
		return conn.Close()
	}
	return nil
}

// SetReadDeadline and SetWriteDeadline also apply if the connection is opened later.
func (c *connection) SetReadDeadline(t time.Time) error {
	c.readDeadline = t
	if conn := c.current(); conn != nil {
		return conn.SetReadDeadline(t)
	}
	return nil
}

func (c *connection) SetWriteDeadline(t time.Time) error {
	c.writeDeadline = t
	if conn := c.current(); conn != nil {
		return conn.SetWriteDeadline(t)
	}
	return nil
}

func (c *connection) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// noAddr is the address of both ends of a connection that has not been opened.
type noAddr struct{}

func (noAddr) Network() string { return "tcp" }
func (noAddr) String() string  { return "not connected" }

func (c *connection) LocalAddr() net.Addr {
	if conn := c.current(); conn != nil {
		return conn.LocalAddr()
	}
	return noAddr{}
}

func (c *connection) RemoteAddr() net.Addr {
	if conn := c.current(); conn != nil {
		return conn.RemoteAddr()
	}
	return noAddr{}
}

// SyscallConn lets go-redis check an idle connection before it uses it again. If the check
// fails, go-redis opens a new connection.
func (c *connection) SyscallConn() (syscall.RawConn, error) {
	if conn, ok := c.current().(syscall.Conn); ok {
		return conn.SyscallConn()
	}
	return uncheckableConn{}, nil
}

// An uncheckableConn passes go-redis's check of an idle connection. It is for a connection
// that cannot be checked or has not been opened: only its use shows whether it works.
type uncheckableConn struct{}

func (uncheckableConn) Read(func(uintptr) bool) error  { return nil }
func (uncheckableConn) Write(func(uintptr) bool) error { return nil }
func (uncheckableConn) Control(func(uintptr)) error    { return nil }
