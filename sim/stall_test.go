package sim_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// While the process is paused, one goroutine wants to write on a connection. An answer
// arrives on the same connection, and another goroutine will close the connection when it
// has read the answer. Clients that ping in the background do that. When the process
// resumes, the writer always comes first, in whatever order the goroutines run.
func TestWritersContinueFirst(t *testing.T) {
	for _, test := range []struct {
		name   string
		pause  []sim.Fault
		writes string // expected result of the write
	}{
		{"no pause", nil, "refused"},
		{"stop", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("client-1")))}, "sent"},
		{"suspend", []sim.Fault{Lasting(3*time.Second, At(time.Second, SuspensionOf("client-1")))}, "sent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 50 {
				var wrote string
				cfg := WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					// The answer is in flight when the pause begins.
					SleepUntil(time.Second - Hop - Hop/2)
					if _, err := conn.Write([]byte("ping\n")); err != nil {
						return err
					}
					closed := make(chan error)
					go func() {
						_, err := ReadReply(conn)
						closed <- errors.Join(err, conn.Close())
					}()
					SleepUntil(2 * time.Second)
					switch _, err := conn.Write([]byte("set k v\n")); {
					case err == nil:
						wrote = "sent"
					case errors.Is(err, net.ErrClosed):
						wrote = "refused"
					default:
						return err
					}
					return <-closed
				})), test.pause...)
				cfg.Disturb = YieldRandomly
				tr := RunWorld(t, cfg)
				Equal(t, "the result of the write", wrote, test.writes)
				sets := len(Events(tr, trace.KindSet, "toy-1"))
				if sent := wrote == "sent"; sent != (sets == 1) {
					t.Errorf("the write was %s, and the key was set %d times\n%s", wrote, sets, Dump(tr))
				}
			}
		})
	}
}

// While their process is paused, goroutines want to write on several connections. When the
// process resumes, each continues in a moment of its own. Then they all sleep for the same
// time, so they also wake in different moments, in a fixed order.
func TestStalledGoroutinesContinueOneByOne(t *testing.T) {
	var first string
	for range 50 {
		cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			var conns []net.Conn
			for node := range 3 {
				conn, err := Dial(ctx, p, node)
				if err != nil {
					return err
				}
				conns = append(conns, conn)
			}
			over := make(chan error)
			for i, conn := range conns {
				go func() {
					SleepUntil(2*time.Second - time.Duration(i)*time.Millisecond)
					_, err := conn.Write([]byte("set k v\n"))
					time.Sleep(time.Second)
					var again error
					conn, again = Dial(ctx, p, 0) // both connections go to the same node
					if again == nil {
						_, again = Ask(conn, "get k"+strings.Repeat("k", i))
					}
					over <- errors.Join(err, again)
				}()
			}
			return errors.Join(<-over, <-over, <-over)
		}))
		cfg.Nodes = Nodes("toy", 3)
		cfg = WithFaults(cfg, Lasting(3*time.Second, At(time.Second, PauseOf("client-1"))))
		cfg.Disturb = YieldRandomly
		tr := RunWorld(t, cfg)
		if len(tr.Doubts) > 0 {
			t.Fatalf("the doubts are %q, want none", tr.Doubts)
		}
		var wrote []string
		for _, ev := range Events(tr, trace.KindSend, "client-1") {
			if strings.HasPrefix(ev.Text, "set") {
				wrote = append(wrote, ev.Peer)
			}
		}
		Equal(t, "the nodes in the order of the writes", strings.Join(wrote, " "), "toy-1 toy-2 toy-3")
		if first == "" {
			first = tr.Hash()
		}
		Equal(t, "the hash of the trace", tr.Hash(), first)
	}
}

// A process can be paused again before its stalled goroutines have continued, or right
// after that. The goroutines, or what they do next, then wait for the end of the second
// pause.
func TestPausedAgain(t *testing.T) {
	for _, test := range []struct {
		second string        // the point at which the second pause begins
		write  time.Duration // expected time at which the write is sent
	}{
		{"client-1 resumed", 7 * time.Second},
		{"10ns after client-1 resumed", 4 * time.Second},
	} {
		t.Run(test.second, func(t *testing.T) {
			var answered time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				SleepUntil(2 * time.Second)
				_, err = Ask(conn, "set k v")
				answered = Now()
				return err
			})),
				Lasting(3*time.Second, At(time.Second, PauseOf("client-1"))),
				Lasting(3*time.Second, When(test.second, PauseOf("client-1")))))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the key was set", OnlyEvent(t, tr, trace.KindSet, "toy-1").At, test.write+Hop)
			EqualTime(t, "the client had the answer", answered, max(7*time.Second, test.write+2*Hop))
		})
	}
}

// If a world ends while goroutines are stalled, or wait for their moment to continue, they
// can end.
func TestEndWhileStalled(t *testing.T) {
	for name, horizon := range map[string]time.Duration{
		"the world ends during the pause":            3 * time.Second,
		"the world ends at the moment of the resume": 4 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := WithFaults(ToyWorld(sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				SleepUntil(2 * time.Second)
				_, err = Ask(conn, "set k v")
				return err
			}}), Lasting(3*time.Second, At(time.Second, PauseOf("client-1"))))
			cfg.Horizon = horizon
			tr := RunWorld(t, cfg)
			NoEvents(t, tr, trace.KindSet, "toy-1")
		})
	}
}
