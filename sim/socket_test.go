package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// TestSocket says what a plain connection does, in a world with nothing else in
// it.
func TestSocket(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(t *testing.T, ctx context.Context, p *Program, c net.Conn)
	}{
		{"an answer takes a round trip", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			began := now(p)
			reply, err := ask(c, "PING")
			same(t, "reply", reply, "+PONG\r\n")
			same(t, "error", err, nil)
			about(t, "the answer", now(p), began+2*hop)
		}},
		{"a command in pieces is one command", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			for _, piece := range []string{"*3\r\n$3\r\nSE", "T\r\n$1\r\nk\r", "\n$1\r\nv\r\n"} {
				if _, err := c.Write([]byte(piece)); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
			}
			reply, err := hear(c)
			same(t, "reply", reply, "+OK\r\n")
			same(t, "error", err, nil)
		}},
		{"two commands at once have two answers", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			_, err := c.Write([]byte("SET k v\r\nGET k\r\n"))
			same(t, "error", err, nil)
			b := make([]byte, len("+OK\r\n$1\r\nv\r\n"))
			_, err = io.ReadFull(c, b)
			same(t, "error", err, nil)
			same(t, "replies", string(b), "+OK\r\n$1\r\nv\r\n")
		}},
		{"a read takes what fits", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			_, err := c.Write([]byte("PING\r\n"))
			same(t, "error", err, nil)
			var heard []string
			b := make([]byte, 3)
			for strings.Join(heard, "") != "+PONG\r\n" {
				n, err := c.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				heard = append(heard, string(b[:n]))
			}
			same(t, "pieces", len(heard), 3)
			n, err := c.Read(nil)
			same(t, "bytes of an empty read", n, 0)
			same(t, "error", err, nil)
		}},
		{"closed", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			same(t, "error", c.Close(), nil)
			_, err := ask(c, "PING")
			same(t, "a write ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
			_, err = hear(c)
			same(t, "a read ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
		}},
		{"closed during a read", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			began := now(p)
			time.AfterFunc(time.Second, func() { c.Close() })
			_, err := hear(c)
			same(t, "the read ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
			about(t, "the end", now(p), began+time.Second)
		}},
		{"a deadline in the past", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			began := now(p)
			same(t, "error", c.SetDeadline(time.Now().Add(-time.Second)), nil)
			_, err := hear(c)
			same(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			about(t, "the end", now(p), began)
			// As with TCP, another deadline makes the connection usable again.
			same(t, "error", c.SetReadDeadline(time.Time{}), nil)
			reply, err := ask(c, "PING")
			same(t, "reply", reply, "+PONG\r\n")
			same(t, "error", err, nil)
		}},
		{"a deadline that is set during a read", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			began := now(p)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(2 * time.Second)) })
			_, err := hear(c)
			same(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			about(t, "the end", now(p), began+3*time.Second)
		}},
		{"a deadline that is moved on during a read", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			began := now(p)
			same(t, "error", c.SetReadDeadline(time.Now().Add(2*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(4 * time.Second)) })
			_, err := hear(c)
			same(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			about(t, "the end", now(p), began+5*time.Second)
		}},
		{"a deadline that is moved forward during a read", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			began := now(p)
			same(t, "error", c.SetReadDeadline(time.Now().Add(9*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(time.Second)) })
			_, err := hear(c)
			same(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			about(t, "the end", now(p), began+2*time.Second)
		}},
		{"a deadline that is lifted during a read", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			same(t, "error", c.SetReadDeadline(time.Now().Add(2*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Time{}) })
			time.AfterFunc(5*time.Second, func() { c.Write([]byte("PING\r\n")) })
			reply, err := hear(c)
			same(t, "reply", reply, "+PONG\r\n")
			same(t, "error", err, nil)
		}},
		{"a deadline is a timeout error, as net says", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			same(t, "error", c.SetReadDeadline(time.Now().Add(time.Second)), nil)
			_, err := hear(c)
			var e net.Error
			same(t, "a net.Error that timed out", errors.As(err, &e) && e.Timeout(), true)
		}},
		{"QUIT", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			reply, err := ask(c, "QUIT")
			same(t, "reply", reply, "+OK\r\n")
			same(t, "error", err, nil)
		}},
		{"addresses", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			same(t, "the other end", c.RemoteAddr().String(), nodeAddr(0))
			same(t, "its network", c.RemoteAddr().Network(), "tcp")
			host, _, err := net.SplitHostPort(c.LocalAddr().String())
			same(t, "error", err, nil)
			same(t, "this end has an IP address", net.ParseIP(host) != nil, true)
		}},
		{"the look at an idle connection", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			look := func() error {
				raw, err := c.(syscall.Conn).SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				return raw.Read(func(uintptr) bool { return true })
			}
			same(t, "an idle connection is good", look(), nil)
			c.Write([]byte("PING\r\n"))
			time.Sleep(time.Second)
			same(t, "one with bytes that nobody read is not", look() != nil, true)
			hear(c)
			same(t, "read, it is good again", look(), nil)
			c.Close()
			same(t, "closed, it is not", look() != nil, true)
		}},
		{"a dial whose caller has given up", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := dialTo(ctx, p, 0)
			same(t, "the error is the context's", errors.Is(err, context.Canceled), true)
		}},
		{"a dial to nowhere", func(t *testing.T, ctx context.Context, p *Program, c net.Conn) {
			_, err := p.Env().Dial(ctx, "tcp", "10.9.9.9:6379")
			same(t, "it fails and names the address", err != nil && strings.Contains(err.Error(), "10.9.9.9:6379"), true)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				conn, err := dialTo(ctx, p, 0)
				if err != nil {
					return err
				}
				test.do(t, ctx, p, conn)
				return nil
			})))
		})
	}
}

// Closing recalls nothing: what was written arrives.
func TestCloseRecallsNothing(t *testing.T) {
	tr := play(t, story(
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			conn, err := dialTo(ctx, p, 0)
			if err != nil {
				return err
			}
			_, err = conn.Write([]byte("SET k v\r\n"))
			return errors.Join(err, conn.Close())
		}),
	))
	about(t, "the key was set", only(t, tr, trace.KindSet, "redis-1").At, 3*hop)
	// Nobody is there any more to take the answer.
	same(t, "the answer", only(t, tr, trace.KindLose, "redis-1").Reply, true)
}

// The end of a caller's patience and the network's answer in one moment: one of
// them wins, and always the same.
func TestAnswerAtTheDeadline(t *testing.T) {
	for name, request := range map[string]func(ctx context.Context, p *Program, d time.Duration) error{
		"dial": func(ctx context.Context, p *Program, d time.Duration) error {
			conn, err := dialTo(within(ctx, d), p, 0)
			if err == nil {
				err = conn.Close()
			}
			return err
		},
		"read": func(ctx context.Context, p *Program, d time.Duration) error {
			conn, err := dialTo(ctx, p, 0)
			if err == nil {
				conn.SetReadDeadline(time.Now().Add(d))
				_, err = ask(conn, "PING")
			}
			return err
		},
		"storage": func(ctx context.Context, p *Program, d time.Duration) error {
			_, err := p.g.call(ctx, nil, storage.Request{Op: storage.Read, Object: trace.Object}, nil, d)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes := map[string]int{}
			for range 50 {
				var failed []bool
				tr := play(t, story(client(t, "client-1", func(ctx context.Context, p *Program) error {
					for _, d := range []time.Duration{2*hop - time.Microsecond, 2 * hop, 2*hop + time.Microsecond} {
						request(ctx, p, time.Second) // so that what can be open is
						sleepUntil(p, now(p).Truncate(time.Second)+time.Second)
						failed = append(failed, request(ctx, p, d) != nil)
					}
					return nil
				})))
				same(t, "too short", failed[0], true)
				same(t, "long enough", failed[2], false)
				outcomes[fmt.Sprint(failed, tr.Hash())]++
			}
			if len(outcomes) != 1 {
				t.Errorf("outcomes: %v", outcomes)
			}
		})
	}
}

// Whoever uses a connection again that is over, without having looked at it, does what
// go-redis does where it cannot look; a run in which that happened says so, if this
// build is one of those.
func TestUseWithoutALook(t *testing.T) {
	crash := until("1s after redis-1 crashed", at(time.Second, &CrashFault{Process: "redis-1"}))
	use := func(look bool) Client {
		return client(t, "client-1", func(ctx context.Context, p *Program) error {
			conn, err := dialTo(ctx, p, 0)
			if err != nil {
				return err
			}
			if _, err := ask(conn, "PING"); err != nil {
				return err
			}
			sleepUntil(p, 3*time.Second)
			if raw, err := conn.(syscall.Conn).SyscallConn(); look && err == nil {
				_ = raw.Read(func(uintptr) bool { return true })
			}
			_, _ = conn.Write([]byte("PING\r\n"))
			return nil
		})
	}
	for _, test := range []struct {
		name  string
		cfg   Config
		blind bool
		notes int
	}{
		{"the connection is over", with(story(use(false)), crash), true, 1},
		{"it was looked at", with(story(use(true)), crash), true, 0},
		{"it is not over", story(use(false)), true, 0},
		{"this build looks", with(story(use(false)), crash), false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.blind = test.blind
			tr := play(t, test.cfg)
			same(t, "the notes", len(tr.Notes), test.notes)
		})
	}
}
