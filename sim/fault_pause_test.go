package sim_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// arrival is when a node gets the first request of a client that starts with the run: the
// dial takes two hops, and the request one.
const arrival = 3 * Hop

// A client sleeps for two seconds and, in another goroutine, for ten, both from the start.
// It is paused from 1 s to 4 s.
func TestPauseAndTheClient(t *testing.T) {
	type outcome struct {
		two, ten        time.Duration // when a sleep of that many seconds returned
		wall, monotonic time.Duration // time that passed on each clock until the sleep of ten seconds returned
	}
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		want   outcome
	}{
		{"no pause", nil, outcome{2 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		// Both clocks keep running, and timers that are due during the pause fire on
		// resume.
		{"stop", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("client-1")))}, outcome{4 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		// The monotonic clock stops during the suspension, and the wall clock jumps to true
		// time after it.
		{"suspend", []sim.Fault{Lasting(3*time.Second, At(time.Second, SuspensionOf("client-1")))}, outcome{5 * time.Second, 13 * time.Second, 13 * time.Second, 10 * time.Second}},
		{"stop of another process", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("toy-1")))}, outcome{2 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				c := p.Clock()
				wall, monotonic := c.Now(), c.Read(fakeclock.Monotonic)
				if err := c.Sleep(ctx, 2*time.Second); err != nil {
					return err
				}
				got.two = Now().Round(time.Microsecond)
				err := c.Sleep(ctx, 10*time.Second-c.Read(fakeclock.Monotonic).Sub(monotonic))
				got.ten = Now().Round(time.Microsecond)
				got.wall = c.Now().Sub(wall).Round(time.Microsecond)
				got.monotonic = c.Read(fakeclock.Monotonic).Sub(monotonic).Round(time.Microsecond)
				return err
			})), test.faults...))
			AllFaultsStruck(t, tr)
			Equal(t, "the client's sleeps and clocks", got, test.want)
			NoEvents(t, tr, trace.KindRanOn, "client-1")
			if len(test.faults) > 0 {
				paused := tr.Faults[0].Text
				process := test.faults[0].Action.(*sim.Pause).Process
				EqualTime(t, paused+" began", OnlyEvent(t, tr, trace.KindPause, process).At, time.Second)
				EqualTime(t, paused+" ended", OnlyEvent(t, tr, trace.KindResume, process).At, 4*time.Second)
			}
		})
	}
}

// While a machine is suspended, its wall clock stops. On resume it jumps to true time.
func TestSuspendedClockStandsStill(t *testing.T) {
	tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		return p.Clock().Sleep(ctx, 2*time.Second)
	})), Lasting(3*time.Second, At(time.Second, SuspensionOf("client-1")))))
	changes := Events(tr, trace.KindClock, "client-1")
	if len(changes) != 3 {
		t.Fatalf("%d changes of the clock, want 3\n%s", len(changes), Dump(tr))
	}
	start, halt, resume := changes[0].Clocks, changes[1].Clocks, changes[2].Clocks
	Equal(t, "why the clock changed first", halt.Why, "suspend")
	Equal(t, "halted by the first change", halt.Halted, true)
	Equal(t, "why the clock changed again", resume.Why, "resume")
	Equal(t, "halted after the second change", resume.Halted, false)
	EqualTime(t, "suspended by the wall clock", time.Duration(halt.Wall-start.Wall), time.Second)
	EqualTime(t, "resumed by the wall clock", time.Duration(resume.Wall-start.Wall), 4*time.Second)
	EqualTime(t, "resumed by the monotonic clock", time.Duration(resume.Monotonic-start.Monotonic), time.Second)
}

// A paused node answers when it resumes. Its keys expire by its wall clock: on time under a
// pause of the process, and on resume if they are due while its machine is suspended.
func TestPauseAndTheNode(t *testing.T) {
	for _, test := range []struct {
		name     string
		faults   []sim.Fault
		answered time.Duration // when the client had both answers
		value    string        // the value that the client reads; "" for none
		expired  time.Duration // when the key expired
	}{
		{"no pause", nil, 1500*time.Millisecond + 2*Hop, "v", arrival + 2*time.Second},
		{"stop", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("toy-1")))}, 4*time.Second + Hop, "", arrival + 2*time.Second},
		{"suspend", []sim.Fault{Lasting(3*time.Second, At(time.Second, SuspensionOf("toy-1")))}, 4*time.Second + Hop, "", 4 * time.Second},
		{"short suspend", []sim.Fault{Lasting(700*time.Millisecond, At(time.Second, SuspensionOf("toy-1")))}, 1700*time.Millisecond + Hop, "v", arrival + 2*time.Second},
		{"stop at a point", []sim.Fault{Until("2s after toy-1 paused", When("client-1 holds toy-1", PauseOf("toy-1")))}, arrival + 2*time.Second + Hop, "", arrival + 2*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var value string
			var answered time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				SleepUntil(arrival - Hop)
				if _, err := conn.Write([]byte("set k v 2000\n")); err != nil {
					return err
				}
				SleepUntil(1500 * time.Millisecond)
				if _, err := conn.Write([]byte("get k\n")); err != nil {
					return err
				}
				var heard string
				for len(heard) < len("yes\nv\n") {
					more, err := ReadReply(conn)
					if err != nil {
						return err
					}
					heard += more
				}
				answered = Now()
				if heard == "yes\nv\n" {
					value = "v"
				} else if heard != "yes\nnothing\n" {
					t.Errorf("the node answered %q, want yes, and then v or nothing", heard)
				}
				return p.Clock().Sleep(ctx, 10*time.Second)
			})), test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the client had both answers", answered, test.answered)
			Equal(t, "the value read", value, test.value)
			EqualTime(t, "the key expired", OnlyEvent(t, tr, trace.KindExpire, "toy-1").At, test.expired)
		})
	}
}

// While a node is stopped, its kernel still accepts connections. The node answers when it
// resumes.
func TestDialToAStoppedNode(t *testing.T) {
	for _, test := range []struct {
		name             string
		faults           []sim.Fault
		opened, answered time.Duration
	}{
		{"no pause", nil, 2*time.Second + 2*Hop, 2*time.Second + 4*Hop},
		{"stop", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("toy-1")))}, 2*time.Second + 2*Hop, 4*time.Second + Hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var opened, answered time.Duration
			RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(2 * time.Second)
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				opened = Now()
				reply, err := Ask(conn, "ping")
				Equal(t, "the reply", reply, "pong\n")
				answered = Now()
				return err
			})), test.faults...))
			EqualTime(t, "the connection was open", opened, test.opened)
			EqualTime(t, "the answer arrived", answered, test.answered)
		})
	}
}

// A request that arrives while the storage is paused takes effect when the storage resumes.
func TestPauseAndTheStorage(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		SleepUntil(2 * time.Second)
		_, err := p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v"})
		return err
	}))
	const arrives = 2*time.Second + 3*Hop // the client first opens a connection
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		at     time.Duration // when the write is applied
	}{
		{"no pause", nil, arrives},
		{"stop", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf(trace.StorageName)))}, 4 * time.Second},
		{"suspend", []sim.Fault{Lasting(3*time.Second, At(time.Second, SuspensionOf(trace.StorageName)))}, 4 * time.Second},
		{"stop when the request is in flight", []sim.Fault{Lasting(5*time.Second, When("client-1's request to storage is in flight", PauseOf(trace.StorageName)))}, arrives - Hop + 5*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(cfg, test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the write was applied", OnlyEvent(t, tr, trace.KindServe, trace.StorageName).At, test.at)
			EqualTime(t, "the answer arrived", OnlyEvent(t, tr, trace.KindDone, "client-1").At, test.at+Hop)
		})
	}
}

// If the answer to a read arrived while the process was paused, the read returns it,
// although its deadline has passed.
func TestBytesThatArrivedDuringAPauseAreReadFirst(t *testing.T) {
	for _, mode := range []trace.PauseMode{trace.Stop, trace.Suspend} {
		t.Run(string(mode), func(t *testing.T) {
			var value string
			var answered time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				toy := Toy(p, 0)
				if err := toy.Do(ctx, "set k v"); err != nil {
					return err
				}
				SleepUntil(time.Second)
				var err error
				value, err = toy.Ask(WithTrueTimeout(ctx, 100*time.Millisecond), "get k")
				answered = Now()
				return err
			})), Lasting(5*time.Second, At(time.Second+Hop, &sim.Pause{"client-1", mode}))))
			EqualTime(t, "the reply arrived", Events(tr, trace.KindDeliver, "client-1")[1].At, time.Second+2*Hop)
			Equal(t, "the value read", value, "v")
			EqualTime(t, "the read returned", answered, 6*time.Second+Hop)
			NoEvents(t, tr, trace.KindTimeout, "client-1")
		})
	}
}

// While a process is paused, no deadline ends a read. If the deadline has passed when the
// process resumes, the read ends then. After a suspension of the machine, a read has as
// much time left as before.
func TestDeadlinesArePaused(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		ends   time.Duration // when a read with the deadline 1 s ends
	}{
		{"no pause", nil, time.Second},
		{"stop", []sim.Fault{Lasting(5*time.Second, At(400*time.Millisecond, PauseOf("client-1")))}, 5400 * time.Millisecond},
		{"short stop", []sim.Fault{Lasting(500*time.Millisecond, At(400*time.Millisecond, PauseOf("client-1")))}, time.Second},
		{"suspend", []sim.Fault{Lasting(5*time.Second, At(400*time.Millisecond, SuspensionOf("client-1")))}, 6 * time.Second},
		{"two suspends", []sim.Fault{
			Lasting(time.Second, At(400*time.Millisecond, SuspensionOf("client-1"))),
			Lasting(time.Second, At(1500*time.Millisecond, SuspensionOf("client-1"))),
		}, 3 * time.Second},
		{"suspend of the node", []sim.Fault{Lasting(5*time.Second, At(400*time.Millisecond, SuspensionOf("toy-1")))}, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ended time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				if err := conn.SetReadDeadline(time.Now().Add(time.Second - Now())); err != nil {
					return err
				}
				if _, err := ReadReply(conn); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the read ended with %v, want %v", err, os.ErrDeadlineExceeded)
				}
				ended = Now()
				return nil
			})), test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the read ended", ended, test.ends)
			EqualTime(t, "the timeout was recorded", OnlyEvent(t, tr, trace.KindTimeout, "client-1").At, test.ends)
		})
	}
}

// A library that uses package time keeps running while its process is paused, but what it
// sends has no effect before the process resumes. The trace contains an event that says
// that the library ran.
func TestLibraryTimersRunOnWhilePaused(t *testing.T) {
	// acts are what the library does at 2 s, in the middle of the pause.
	acts := map[string]func(ctx context.Context, p *sim.Program) error{
		"write": func(ctx context.Context, p *sim.Program) error {
			toy := Toy(p, 0)
			if err := toy.Do(ctx, "ping"); err != nil {
				return err
			}
			SleepUntil(2 * time.Second)
			return toy.Do(ctx, "set k v")
		},
		"dial": func(ctx context.Context, p *sim.Program) error {
			SleepUntil(2 * time.Second)
			conn, err := Dial(ctx, p, 0)
			if err == nil {
				_, err = Ask(conn, "set k v")
			}
			return err
		},
		"close": func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			SleepUntil(2 * time.Second)
			_, err = Ask(conn, "set k v")
			return errors.Join(err, conn.Close())
		},
	}
	for name, act := range acts {
		for _, mode := range []trace.PauseMode{trace.Stop, trace.Suspend} {
			t.Run(name+" during a "+string(mode), func(t *testing.T) {
				tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", act)), Lasting(3*time.Second, At(time.Second, &sim.Pause{"client-1", mode}))))
				EqualTime(t, "client-1 ran on", OnlyEvent(t, tr, trace.KindRanOn, "client-1").At, 2*time.Second)
				if set := OnlyEvent(t, tr, trace.KindSet, "toy-1").At; set < 4*time.Second+Hop {
					t.Errorf("the key was set at %v, want after the pause\n%s", set, Dump(tr))
				}
				for _, ev := range tr.Events {
					if ev.Kind == trace.KindSend && ev.Process == "client-1" && ev.At > time.Second && ev.At < 4*time.Second {
						t.Errorf("client-1 sent %s at %v, during the pause", ev.Text, ev.At)
					}
				}
			})
		}
		t.Run(name+" without a pause", func(t *testing.T) {
			tr := RunWorld(t, ToyWorld(Client(t, "client-1", act)))
			NoEvents(t, tr, trace.KindRanOn, "client-1")
			if set := OnlyEvent(t, tr, trace.KindSet, "toy-1").At; set > 2*time.Second+5*Hop {
				t.Errorf("the key was set at %v, want at most %v", set, 2*time.Second+5*Hop)
			}
		})
	}
}

// A fault that pauses a client before a step strikes just before the step begins. The step
// happens after the pause, and before the rest of the client's I/O.
func TestPauseBeforeAStep(t *testing.T) {
	cfg := ToyWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			answered := make(chan error, 1)
			go func() {
				// A goroutine is reading when the pause strikes, and sends a command right
				// after the read.
				toy := Toy(p, 0)
				err := toy.Do(ctx, "wait news")
				answered <- errors.Join(err, toy.Do(ctx, "set k v"))
			}()
			SleepUntil(time.Second)
			err := p.Step(trace.Write, func() error {
				_, err := p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v"})
				return err
			})
			return errors.Join(err, <-answered)
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(2 * time.Second)
			return Toy(p, 0).Do(ctx, "set news x")
		}),
	)
	t.Run("no pause", func(t *testing.T) {
		tr := RunWorld(t, cfg)
		EqualTime(t, "the write began", OnlyEvent(t, tr, trace.KindBegin, "client-1").At, time.Second)
	})
	for _, mode := range []trace.PauseMode{trace.Stop, trace.Suspend} {
		t.Run(string(mode), func(t *testing.T) {
			tr := RunWorld(t, WithFaults(cfg, Until("3s after client-2 finished", Before("client-1 write", &sim.Pause{"client-1", mode}))))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the pause began", OnlyEvent(t, tr, trace.KindPause, "client-1").At, time.Second)
			resume := OnlyEvent(t, tr, trace.KindResume, "client-1")
			EqualTime(t, "the pause ended", resume.At, 5*time.Second+4*Hop)
			begin := OnlyEvent(t, tr, trace.KindBegin, "client-1")
			if begin.Seq < resume.Seq || begin.At > resume.At+time.Microsecond {
				t.Errorf("the write began at %v, as event %d, want right after the pause\n%s", begin.At, begin.Seq, Dump(tr))
			}
			serve := OnlyEvent(t, tr, trace.KindServe, trace.StorageName).At
			EqualTime(t, "the write arrived", serve, resume.At+3*Hop) // the client first opens a connection
			var sent []string
			for _, ev := range tr.Events {
				if ev.Seq > resume.Seq && ev.Kind == trace.KindSend && ev.Process == "client-1" {
					sent = append(sent, ev.Text)
				}
			}
			if len(sent) != 2 {
				t.Errorf("after the pause client-1 sent %q, want two requests", sent)
			}
		})
	}
}

// A pause that strikes at the point "is in flight" strikes after the request was sent. The
// client gets the answer when it resumes.
func TestPauseWhileARequestIsInFlight(t *testing.T) {
	var got time.Duration
	tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		err := Toy(p, 0).Do(ctx, "set k v")
		got = Now()
		return err
	})), Lasting(2*time.Second, When("client-1's request to toy-1 is in flight", PauseOf("client-1")))))
	EqualTime(t, "the key was set", OnlyEvent(t, tr, trace.KindSet, "toy-1").At, arrival)
	EqualTime(t, "the answer was read", got, arrival-Hop+2*time.Second)
}

// A pause of the process and a suspension of its machine may overlap. The clocks stop only
// as long as the suspension lasts.
func TestSuspensionWithinAStop(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		halted time.Duration // how long the monotonic clock stood still
		woke   time.Duration // when a sleep of two seconds returned
	}{
		{"the suspension lies within the stop", []sim.Fault{Lasting(6*time.Second, At(time.Second, PauseOf("client-1"))), Lasting(2*time.Second, At(3*time.Second, SuspensionOf("client-1")))}, 2 * time.Second, 7 * time.Second},
		{"the suspension ends after the stop", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("client-1"))), Lasting(5*time.Second, At(1500*time.Millisecond, SuspensionOf("client-1")))}, 5 * time.Second, 7 * time.Second},
		{"the suspension begins before the stop", []sim.Fault{Lasting(2*time.Second, At(time.Second, SuspensionOf("client-1"))), Lasting(5*time.Second, At(2*time.Second, PauseOf("client-1")))}, 2 * time.Second, 7 * time.Second},
		{"two suspensions within one stop", []sim.Fault{
			Lasting(8*time.Second, At(time.Second, PauseOf("client-1"))),
			Lasting(time.Second, At(2*time.Second, SuspensionOf("client-1"))), Lasting(time.Second, At(4*time.Second, SuspensionOf("client-1"))),
		}, 2 * time.Second, 9 * time.Second},
		{"a suspension within a suspension", []sim.Fault{
			Lasting(8*time.Second, At(time.Second, SuspensionOf("client-1"))), Lasting(time.Second, At(2*time.Second, SuspensionOf("client-1"))),
		}, 8 * time.Second, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var woke, wall, monotonic time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				c := p.Clock()
				began, counted := c.Now(), c.Read(fakeclock.Monotonic)
				err := c.Sleep(ctx, 2*time.Second)
				woke, wall, monotonic = Now(), c.Now().Sub(began), c.Read(fakeclock.Monotonic).Sub(counted)
				return err
			})), test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the client woke", woke, test.woke)
			EqualTime(t, "the monotonic clock was behind the wall clock", wall-monotonic, test.halted)
			OnlyEvent(t, tr, trace.KindPause, "client-1")
			OnlyEvent(t, tr, trace.KindResume, "client-1")
		})
	}
}

// Pauses that overlap act as one pause, which ends with the last of them.
func TestOverlappingPauses(t *testing.T) {
	for _, first := range []trace.PauseMode{trace.Stop, trace.Suspend} {
		t.Run(string(first), func(t *testing.T) {
			var woke time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				err := p.Clock().Sleep(ctx, 2*time.Second)
				woke = Now()
				return err
			})),
				Lasting(3*time.Second, At(time.Second, &sim.Pause{"client-1", first})),
				Lasting(4*time.Second, At(2*time.Second-Hop, PauseOf("client-1"))),
			))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the pause began", OnlyEvent(t, tr, trace.KindPause, "client-1").At, time.Second)
			resumed := OnlyEvent(t, tr, trace.KindResume, "client-1").At
			EqualTime(t, "the pause ended", resumed, 6*time.Second-Hop)
			// The client's clocks ran again after the suspension, while the process was
			// still stopped. So the sleep was due when the process resumed.
			EqualTime(t, "the client woke", woke, resumed)
		})
	}
}
