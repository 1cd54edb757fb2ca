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
			EqualTime(t, "the answer arrived", Now(), began+2*Hop)
		}},
		{"a line that is written in pieces is one message", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
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
		{"two lines in one write get two answers", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			_, err := c.Write([]byte("set k v\nget k\n"))
			Equal(t, "error", err, nil)
			b := make([]byte, len("yes\nv\n"))
			_, err = io.ReadFull(c, b)
			Equal(t, "error", err, nil)
			Equal(t, "replies", string(b), "yes\nv\n")
		}},
		{"a read returns as much as fits in its buffer", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
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
			Equal(t, "number of reads for five bytes", len(heard), 3)
			n, err := c.Read(nil)
			Equal(t, "bytes of an empty read", n, 0)
			Equal(t, "error", err, nil)
		}},
		{"a closed connection returns ErrClosed", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "error", c.Close(), nil)
			_, err := Ask(c, "ping")
			Equal(t, "a write ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
			_, err = ReadReply(c)
			Equal(t, "a read ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
		}},
		{"closing a connection ends a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			time.AfterFunc(time.Second, func() { c.Close() })
			_, err := ReadReply(c)
			Equal(t, "the read ends with ErrClosed", errors.Is(err, net.ErrClosed), true)
			EqualTime(t, "the read ended", Now(), began+time.Second)
		}},
		{"a deadline in the past", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			Equal(t, "error", c.SetDeadline(time.Now().Add(-time.Second)), nil)
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the read ended", Now(), began)
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
			EqualTime(t, "the read ended", Now(), began+3*time.Second)
		}},
		{"a deadline that is moved to a later time during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(2*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(4 * time.Second)) })
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the read ended", Now(), began+5*time.Second)
		}},
		{"a deadline that is moved to an earlier time during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			began := Now()
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(9*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Now().Add(time.Second)) })
			_, err := ReadReply(c)
			Equal(t, "the read times out", errors.Is(err, os.ErrDeadlineExceeded), true)
			EqualTime(t, "the read ended", Now(), began+2*time.Second)
		}},
		{"a deadline that is lifted during a read", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(2*time.Second)), nil)
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Time{}) })
			time.AfterFunc(5*time.Second, func() { c.Write([]byte("ping\n")) })
			reply, err := ReadReply(c)
			Equal(t, "reply", reply, "pong\n")
			Equal(t, "error", err, nil)
		}},
		{"a read past its deadline returns a net.Error with Timeout", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			Equal(t, "error", c.SetReadDeadline(time.Now().Add(time.Second)), nil)
			_, err := ReadReply(c)
			var e net.Error
			Equal(t, "a net.Error that timed out", errors.As(err, &e) && e.Timeout(), true)
		}},
		{"the node closes the connection", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
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
		{"the check of an idle connection", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			// check returns nil if the connection can be used again.
			check := func() error {
				raw, err := c.(syscall.Conn).SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				return raw.Read(func(uintptr) bool { return true })
			}
			Equal(t, "the check of an idle connection", check(), nil)
			c.Write([]byte("ping\n"))
			time.Sleep(time.Second)
			Equal(t, "the check of a connection with unread bytes fails", check() != nil, true)
			ReadReply(c)
			Equal(t, "the check after the bytes have been read", check(), nil)
			c.Close()
			Equal(t, "the check of a closed connection fails", check() != nil, true)
		}},
		{"a dial with a cancelled context", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := Dial(ctx, p, 0)
			Equal(t, "the error is the context's", errors.Is(err, context.Canceled), true)
		}},
		{"a dial to an address without a process", func(t *testing.T, ctx context.Context, p *sim.Program, c net.Conn) {
			_, err := p.Env().Dial(ctx, "tcp", "10.9.9.9:6379")
			Equal(t, "the dial fails and its error names the address", err != nil && strings.Contains(err.Error(), "10.9.9.9:6379"), true)
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
func TestBytesWrittenBeforeCloseArrive(t *testing.T) {
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
	Equal(t, "the lost message is a reply", OnlyEvent(t, tr, trace.KindLose, "toy-1").Reply, true)
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
				Equal(t, "a request with a deadline just before its answer fails", failed[0], true)
				Equal(t, "a request with a deadline just after its answer fails", failed[2], false)
				outcomes[fmt.Sprint(failed, tr.Hash())]++
			}
			if len(outcomes) != 1 {
				t.Errorf("50 runs had different outcomes: %v", outcomes)
			}
		})
	}
}

// On some operating systems go-redis cannot check whether an idle connection has ended
// before it uses the connection again. If a client does that in a build in which clients
// cannot check, the trace has a note.
func TestUseOfAnUncheckedConnection(t *testing.T) {
	crash := Until("1s after toy-1 crashed", At(time.Second, &sim.CrashFault{Process: "toy-1"}))
	// use returns a client that uses its connection again at 3 s. If check is set, it
	// checks the connection before that.
	use := func(check bool) sim.Client {
		return Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			if _, err := Ask(conn, "ping"); err != nil {
				return err
			}
			SleepUntil(3 * time.Second)
			if raw, err := conn.(syscall.Conn).SyscallConn(); check && err == nil {
				_ = raw.Read(func(uintptr) bool { return true })
			}
			_, _ = conn.Write([]byte("ping\n"))
			return nil
		})
	}
	for _, test := range []struct {
		name  string
		cfg   sim.Config
		blind bool // whether this is a build in which clients cannot check
		notes int  // number of notes in the trace
	}{
		{"the connection has ended", WithFaults(ToyWorld(use(false)), crash), true, 1},
		{"the connection has ended, and the client has checked it", WithFaults(ToyWorld(use(true)), crash), true, 0},
		{"the connection has not ended", ToyWorld(use(false)), true, 0},
		{"the connection has ended, and clients can check in this build", WithFaults(ToyWorld(use(false)), crash), false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.blind {
				BlindToys(t)
			}
			tr := RunWorld(t, test.cfg)
			Equal(t, "number of notes", len(tr.Notes), test.notes)
		})
	}
}
