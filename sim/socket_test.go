package sim_test

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

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// TestSocket checks the behaviour of a plain connection between a client and a node.
func TestSocket(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn)
	}{
		{"an answer takes a round trip", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			reply, err := Ask(c, "ping")
			Equal(t, "reply", reply, "pong\n")
			Equal(t, "error", err, nil)
			EqualTime(t, "the answer", Now(), began+2*Hop)
		}},
		{"a line in pieces is one message", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			for _, piece := range []string{"se", "t k v", "\n"} {
				if _, err := c.Write([]byte(piece)); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
			}
			reply, err := ReadReply(c)
			Equal(t, "reply", reply, "yes\n")
			Equal(t, "error", err, nil)
		}},
		{"two lines at once have two answers", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			_, err := c.Write([]byte("set k v\nget k\n"))
			Equal(t, "error", err, nil)
			b := make([]byte, len("yes\nv\n"))
			_, err = io.ReadFull(c, b)
			Equal(t, "error", err, nil)
			Equal(t, "replies", string(b), "yes\nv\n")
		}},
		{"a read takes what fits", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			_, err := c.Write([]byte("ping\n"))
			Equal(t, "error", err, nil)
			var heard []string
			b := make([]byte, 2)
			for strings.Join(heard, "") != "pong\n" {
				n, err := c.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				heard = append(heard, string(b[:n]))
			}
			Equal(t, "pieces", len(heard), 3)
			n, err := c.Read(nil)
			Equal(t, "bytes of an empty read", n, 0)
			Equal(t, "error", err, nil)
		}},
		{"closed", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "error", c.Close(), nil)
			_, err := Ask(c, "ping")
			Equal(t, "a write ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
			_, err = ReadReply(c)
			Equal(t, "a read ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
		}},
		{"closed during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			time.AfterFunc(time.Second, func() { c.Close() })
			_, err := ReadReply(c)
			Equal(t, "the read ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
			EqualTime(t, "the end", Now(), began+time.Second)
		}},
		{"a deadline in the past", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			Equal(t, "error", c.SetDeadline(time.Now().Add(-time.Second)), nil)
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the end", Now(), began)
			// As with TCP, a new deadline makes the connection usable again.
			Equal(t, "error", c.SetReadDeadline(time.Time{}), nil)
			reply, err := Ask(c, "ping")
			Equal(t, "reply", reply, "pong\n")
			Equal(t, "error", err, nil)
		}},
		{"a deadline that is set during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(2 * time.Second)) })
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the end", Now(), began+3*time.Second)
		}},
		{"a deadline that is moved on during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(2*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(4 * time.Second)) })
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the end", Now(), began+5*time.Second)
		}},
		{"a deadline that is moved forward during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(9*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(time.Second)) })
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the end", Now(), began+2*time.Second)
		}},
		{"a deadline that is lifted during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(2*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Time{}) })
			time.AfterFunc(5*time.Second, func() { c.Write([]byte("ping\n")) })
			reply, err := ReadReply(c)
			Equal(t, "reply", reply, "pong\n")
			Equal(t, "error", err, nil)
		}},
		{"a deadline is a timeout error, as net says", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(time.Second)), nil)
			_, err := ReadReply(c)
			var e net.Error
			Equal(t, "a net.Error that timed out", errors.As(err, &e) && e.Timeout(), true)
		}},
		{"closed by the other end", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			reply, err := Ask(c, "quit")
			Equal(t, "reply", reply, "")
			Equal(t, "error", err, io.EOF)
		}},
		{"addresses", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "the other end", c.RemoteAddr().String(), p.Env().Nodes[0])
			Equal(t, "its network", c.RemoteAddr().Network(), "tcp")
			host, _, err := net.SplitHostPort(c.LocalAddr().String())
			Equal(t, "error", err, nil)
			Equal(t, "this end has an IP address", net.ParseIP(host) != nil, true)
		}},
		{"the look at an idle connection", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			look := func() error {
				raw, err := c.(syscall.Conn).SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				return raw.Read(func(uintptr) bool { return true })
			}
			Equal(t, "an idle connection is good", look(), nil)
			c.Write([]byte("ping\n"))
			time.Sleep(time.Second)
			Equal(t, "one with bytes that nobody read is not", look() != nil, true)
			ReadReply(c)
			Equal(t, "read, it is good again", look(), nil)
			c.Close()
			Equal(t, "closed, it is not", look() != nil, true)
		}},
		{"a dial whose caller has given up", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := Dial(ctx, p, 0)
			Equal(t, "the error is the context's", errors.Is(err, context.Canceled), true)
		}},
		{"a dial to nowhere", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			_, err := p.Env().Dial(ctx, "tcp", "10.9.9.9:6379")
			Equal(t, "it fails and names the address", err != nil && strings.Contains(err.Error(), "10.9.9.9:6379"), true)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			RunWorld(t, ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				test.do(t, ctx, p, conn)
				return nil
			})))
		})
	}
}

// Bytes that were written before Close arrive.
func TestCloseRecallsNothing(t *testing.T) {
	tr := RunWorld(t, ToyWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			_, err = conn.Write([]byte("set k v\n"))
			return errors.Join(err, conn.Close())
		}),
	))
	EqualTime(t, "the key was set", OnlyEvent(t, tr, trace.KindSet, "toy-1").At, 3*Hop)
	// The socket is closed, so the answer is lost.
	Equal(t, "the answer", OnlyEvent(t, tr, trace.KindLose, "toy-1").Reply, true)
}

// The caller's deadline and the answer of the network come at the same moment. The result
// is the same in every run.
func TestAnswerAtTheDeadline(t *testing.T) {
	for name, request := range map[string]func(ctx context.Context, p *sim.Program, d time.Duration) error{
		"dial": func(ctx context.Context, p *sim.Program, d time.Duration) error {
			conn, err := Dial(WithTrueTimeout(ctx, d), p, 0)
			if err == nil {
				err = conn.Close()
			}
			return err
		},
		"read": func(ctx context.Context, p *sim.Program, d time.Duration) error {
			conn, err := Dial(ctx, p, 0)
			if err == nil {
				conn.SetReadDeadline(time.Now().Add(d))
				_, err = Ask(conn, "ping")
			}
			return err
		},
		"storage": func(ctx context.Context, p *sim.Program, d time.Duration) error {
			_, err := p.Storage(WithTrueTimeout(ctx, d), storage.Request{Op: storage.Read, Object: trace.DefaultObject})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes := map[string]int{}
			for range 50 {
				var failed []bool
				tr := RunWorld(t, ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					for _, d := range []time.Duration{2*Hop - time.Microsecond, 2 * Hop, 2*Hop + time.Microsecond} {
						request(ctx, p, time.Second) // so that all connections are open
						SleepUntil(Now().Truncate(time.Second) + time.Second)
						failed = append(failed, request(ctx, p, d) != nil)
					}
					return nil
				})))
				Equal(t, "too short", failed[0], true)
				Equal(t, "long enough", failed[2], false)
				outcomes[fmt.Sprint(failed, tr.Hash())]++
			}
			if len(outcomes) != 1 {
				t.Errorf("outcomes: %v", outcomes)
			}
		})
	}
}

// On some operating systems go-redis cannot check whether an idle connection has ended
// before it uses the connection again. If a client does that in a build in which clients
// cannot check, the trace has a note.
func TestUseWithoutALook(t *testing.T) {
	crash := Until("1s after toy-1 crashed", At(time.Second, &sim.CrashFault{Process: "toy-1"}))
	use := func(look bool) sim.Client {
		return Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			if _, err := Ask(conn, "ping"); err != nil {
				return err
			}
			SleepUntil(3 * time.Second)
			if raw, err := conn.(syscall.Conn).SyscallConn(); look && err == nil {
				_ = raw.Read(func(uintptr) bool { return true })
			}
			_, _ = conn.Write([]byte("ping\n"))
			return nil
		})
	}
	for _, test := range []struct {
		name  string
		cfg   sim.Config
		blind bool
		notes int
	}{
		{"the connection is over", WithFaults(ToyWorld(use(false)), crash), true, 1},
		{"it was looked at", WithFaults(ToyWorld(use(true)), crash), true, 0},
		{"it is not over", ToyWorld(use(false)), true, 0},
		{"this build looks", WithFaults(ToyWorld(use(false)), crash), false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.blind {
				BlindToys(t)
			}
			tr := RunWorld(t, test.cfg)
			Equal(t, "the notes", len(tr.Notes), test.notes)
		})
	}
}
