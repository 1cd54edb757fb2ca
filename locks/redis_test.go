package locks_test

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/locks"
)

func TestRedisReturnsOneClientPerNode(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, c *cluster) {
		e := c.Env()
		first, second := locks.RedisClient(e, 0), locks.RedisClient(e, 1)
		if first != locks.RedisClient(e, 0) || first == second {
			t.Error("Redis returned two clients for node 1, or one for both nodes; want one client for each node")
		}
		if err := first.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Nodes[0].Get("k"); got != "v" {
			t.Errorf("the key on node 1 has the value %q (%v), want v", got, err)
		}
		if c.Nodes[1].Exists("k") {
			t.Error("a command for node 1 reached node 2")
		}
		for range 2 {
			if err := e.Close(); err != nil {
				t.Errorf("Close returned %v, want no error", err)
			}
		}
		if first.Ping(t.Context()).Err() == nil {
			t.Error("a client still works after Close, want an error")
		}
	})
}

// When a world ends, Close ends unfinished dials, because nothing of the lock may remain.
func TestCloseEndsADial(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		c.Nodes[0].Mute = true
		e := c.Env()
		began := time.Now()
		ended := make(chan time.Duration, 1)
		go func() {
			locks.RedisClient(e, 0).Ping(t.Context())
			ended <- time.Since(began)
		}()
		synctest.Wait()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if took := <-ended; took != 0 {
			t.Errorf("the dial ended after %v, want immediately with Close", took)
		}
	})
}

// If a client is closed while it dials, the connection is closed as soon as it is made.
func TestCloseDuringADial(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		e := c.Env()
		proceed := make(chan struct{})
		ours, theirs := net.Pipe() // the ends of the client and of the node
		e.Dial = func(context.Context, string, string) (net.Conn, error) {
			<-proceed
			return ours, nil
		}
		go locks.RedisClient(e, 0).Ping(t.Context())
		synctest.Wait()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		close(proceed)
		if n, err := theirs.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes came over a connection of a closed client, want an error", n)
		}
	})
}

// WarmUp opens a connection to each node. Only for a node that was down, the first acquire
// dials again.
func TestWarmUpConnectsNodes(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, c *cluster) {
		c.Nodes[4].Down = true
		var dialled atomic.Int32
		var e *locks.Env
		l := c.Client(t, "redlock", func(env *locks.Env) {
			e = env
			e.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				dialled.Add(1)
				return c.Dial(ctx, network, addr)
			}
		})
		e.WarmUp(t.Context())
		if n := dialled.Swap(0); n != 5 {
			t.Errorf("WarmUp dialled %d times, want once for each node", n)
		}
		acquire(t, l)
		if n := dialled.Load(); n != 1 {
			t.Errorf("the first acquire dialled %d times, want once: only for the node that was down", n)
		}
	})
}

// A breakable is a connection that has ended if broken is set; a check of the connection
// shows that.
type breakable struct {
	net.Conn
	broken *bool
}

func (b breakable) SyscallConn() (syscall.RawConn, error) {
	if *b.broken {
		return nil, net.ErrClosed
	}
	return nothingToRead{}, nil
}

// nothingToRead is the raw connection of an idle connection, which a check reads.
type nothingToRead struct{}

func (nothingToRead) Read(func(uintptr) bool) error  { return nil }
func (nothingToRead) Write(func(uintptr) bool) error { return nil }
func (nothingToRead) Control(func(uintptr)) error    { return nil }

// go-redis sends no request on a connection that, as its check shows, has ended.
func TestIdleConnectionThatBroke(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		e := c.Env()
		defer e.Close()
		dialled, broken := 0, false
		e.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialled++
			conn, err := c.Dial(ctx, network, addr)
			return breakable{conn, &broken}, err
		}
		// The connection has ended before the third request.
		for _, want := range []int{1, 1, 2} {
			broken = want == 2
			if err := locks.RedisClient(e, 0).Ping(t.Context()).Err(); err != nil {
				t.Error(err)
			}
			if dialled != want {
				t.Errorf("the client has dialled %d times, want %d", dialled, want)
			}
		}
	})
}
