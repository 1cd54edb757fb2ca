package sim_test

import (
	"context"
	"errors"
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

// A node crashes, and three clients see it: one waits for an answer, one dials while the
// node is down, and one has an idle connection that it uses after the restart.
func TestCrashAndTheConnections(t *testing.T) {
	type outcome struct {
		waits    error         // error of client-1, which waits for an answer
		waited   time.Duration // when this wait ended
		dials    error         // error of client-2, which dials at 3 s
		dialled  time.Duration // when this dial ended
		restarts error         // error of client-3, whose connection was idle
	}
	const strikes = 2 * time.Second
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		want   outcome
	}{
		{"no crash", nil, outcome{
			os.ErrDeadlineExceeded, 5 * time.Second,
			nil, 3*time.Second + 2*Hop,
			nil,
		}},
		// The kernel of the killed node resets its connections and refuses new ones.
		{"kill", []sim.Fault{Lasting(5*time.Second, At(strikes, CrashOf("toy-1", "")))}, outcome{
			syscall.ECONNRESET, strikes + Hop,
			syscall.ECONNREFUSED, 3*time.Second + 2*Hop,
			syscall.EPIPE,
		}},
		{"shutdown", []sim.Fault{Lasting(5*time.Second, At(strikes, CrashOf("toy-1", trace.Shutdown)))}, outcome{
			syscall.ECONNRESET, strikes + Hop,
			syscall.ECONNREFUSED, 3*time.Second + 2*Hop,
			syscall.EPIPE,
		}},
		// No client is notified. The machine that has started again does not know the
		// connection, and resets it.
		{"power loss", []sim.Fault{Lasting(5*time.Second, At(strikes, CrashOf("toy-1", trace.PowerLoss)))}, outcome{
			os.ErrDeadlineExceeded, 5 * time.Second,
			context.DeadlineExceeded, 6 * time.Second,
			syscall.ECONNRESET,
		}},
		{"power loss of the storage", []sim.Fault{At(strikes, CrashOf(trace.StorageName, trace.PowerLoss))}, outcome{
			os.ErrDeadlineExceeded, 5 * time.Second,
			nil, 3*time.Second + 2*Hop,
			nil,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					err = conn.SetReadDeadline(time.Now().Add(5*time.Second - Now()))
					_, got.waits = Ask(conn, "wait k")
					got.waited = Now()
					return err
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					SleepUntil(3 * time.Second)
					conn, err := Dial(WithTrueTimeout(ctx, 3*time.Second), p, 0)
					got.dials, got.dialled = err, Now()
					if err == nil {
						return conn.Close()
					}
					return nil
				}),
				Client(t, "client-3", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					SleepUntil(8 * time.Second)
					_, got.restarts = Ask(conn, "ping")
					return nil
				}),
			), test.faults...))
			AllFaultsStruck(t, tr)
			for _, e := range []struct {
				what      string
				got, want error
			}{{"the read", got.waits, test.want.waits}, {"the dial", got.dials, test.want.dials}, {"the request on the idle connection", got.restarts, test.want.restarts}} {
				if !errors.Is(e.got, e.want) || e.want == nil && e.got != nil {
					t.Errorf("%s ended with %v, want %v", e.what, e.got, e.want)
				}
			}
			EqualTime(t, "the read ended", got.waited, test.want.waited)
			EqualTime(t, "the dial ended", got.dialled, test.want.dialled)
			if test.want.dials != nil {
				OnlyEvent(t, tr, trace.KindRefuse, "client-2")
			}
		})
	}
}

// If a client has sent something to a machine without power, its kernel sends it again and
// again. When the machine runs again, it does not know the connection, and answers with a
// reset.
func TestRestartResetsAWaitingConnection(t *testing.T) {
	var err error
	var ended time.Duration
	RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		conn, failed := Dial(ctx, p, 0)
		if failed != nil {
			return failed
		}
		SleepUntil(3 * time.Second)
		_, err = Ask(conn, "ping")
		ended = Now()
		return nil
	})), Lasting(5*time.Second, At(2*time.Second, CrashOf("toy-1", trace.PowerLoss)))))
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the read ended with %v, want %v", err, syscall.ECONNRESET)
	}
	EqualTime(t, "the read ended", ended, 7*time.Second+2*Hop)
}

// A dial to a machine without power is answered when the machine has started again.
func TestDialOverARestart(t *testing.T) {
	for _, test := range []struct {
		how   trace.Crash
		fails error
		ends  time.Duration
	}{
		{trace.PowerLoss, nil, 4*time.Second + 2*Hop},
		{trace.Kill, syscall.ECONNREFUSED, 3*time.Second + 2*Hop},
	} {
		t.Run(string(test.how), func(t *testing.T) {
			RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(3 * time.Second)
				_, err := Dial(WithTrueTimeout(ctx, 5*time.Second), p, 0)
				if !errors.Is(err, test.fails) {
					t.Errorf("the dial ended with %v, want %v", err, test.fails)
				}
				EqualTime(t, "the dial ended", Now(), test.ends)
				return nil
			})), Lasting(2*time.Second, At(2*time.Second, CrashOf("toy-1", test.how)))))
		})
	}
}

// A client that has crashed never acts again: its I/O blocks until the end of the run.
// Messages that it had sent arrive.
func TestCrashOfAClient(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault []sim.Fault
		sets  string     // the values that toy-1 sets
		event trace.Kind // the event with which toy-1 notices the crash; "" for none
	}{
		{"no crash", nil, "first second third", ""},
		{"kill", []sim.Fault{At(2500*time.Millisecond, CrashOf("client-1", trace.Kill))}, "first second", trace.KindReset},
		{"power loss", []sim.Fault{At(2500*time.Millisecond, CrashOf("client-1", trace.PowerLoss))}, "first second", ""},
		{"kill with a request in flight", []sim.Fault{When("client-1's write request to toy-1 is in flight", CrashOf("client-1", trace.Kill))}, "first second", trace.KindReset},
		{"power loss with a request in flight", []sim.Fault{When("client-1's write request to toy-1 is in flight", CrashOf("client-1", trace.PowerLoss))}, "first second", ""},
		{"kill before a step", []sim.Fault{Before("client-1 write", CrashOf("client-1", trace.Kill))}, "first", trace.KindReset},
		{"power loss behind a partition", []sim.Fault{
			Lasting(3*time.Second, At(1500*time.Millisecond, &sim.Partition{"client-1", []string{"toy-1"}, ""})),
			At(2500*time.Millisecond, CrashOf("client-1", trace.PowerLoss)),
		}, "first", ""},
		// The kernel of a killed process still sends what the process had written.
		{"kill behind a partition", []sim.Fault{
			Lasting(3*time.Second, At(1500*time.Millisecond, &sim.Partition{"client-1", []string{"toy-1"}, ""})),
			At(2500*time.Millisecond, CrashOf("client-1", trace.Kill)),
		}, "first second", trace.KindReset},
		{"kill with an end: the client does not restart", []sim.Fault{Lasting(time.Second, At(2500*time.Millisecond, CrashOf("client-1", trace.Kill)))}, "first second", trace.KindReset},
	} {
		t.Run(test.name, func(t *testing.T) {
			returned := false
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					SleepUntil(time.Second)
					_, err = Ask(conn, "set k first")
					SleepUntil(2 * time.Second)
					_ = p.Step(trace.Write, func() error {
						_, err := Ask(conn, "set k second")
						return err
					})
					SleepUntil(3 * time.Second)
					_, err3 := Ask(conn, "set k third")
					returned = err3 == nil
					if len(test.fault) > 0 {
						return nil
					}
					return errors.Join(err, err3)
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					return p.Clock().Sleep(ctx, 10*time.Second)
				}),
			), test.fault...))
			AllFaultsStruck(t, tr)
			var values []string
			for _, ev := range Events(tr, trace.KindSet, "toy-1") {
				values = append(values, ev.Value)
			}
			Equal(t, "values set", strings.Join(values, " "), test.sets)
			Equal(t, "the last write returned", returned, len(test.fault) == 0)
			if test.event != "" {
				OnlyEvent(t, tr, test.event, "toy-1")
			} else {
				NoEvents(t, tr, trace.KindReset, "toy-1")
			}
			if len(test.fault) == 0 {
				return
			}
			NoEvents(t, tr, trace.KindRestart, "client-1")
			NoEvents(t, tr, trace.KindDone, "client-1")
			crash := OnlyEvent(t, tr, trace.KindCrash, "client-1")
			for _, ev := range tr.Events {
				if ev.Seq > crash.Seq && ev.Process == "client-1" && ev.Kind != trace.KindLose {
					t.Errorf("client-1 acts after its crash: %s %s at %v", ev.Kind, ev.Text, ev.At)
				}
			}
		})
	}
}

// The storage keeps its data on disk. In a crash it loses only its connections and the
// messages in flight on them.
func TestCrashOfTheStorage(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault []sim.Fault
		err   error // result of the second write
		made  int   // version of the object at the end
	}{
		{"no crash", nil, nil, 3},
		{"kill", []sim.Fault{Lasting(time.Second, When("client-1's request to storage is in flight, 2nd time", CrashOf(trace.StorageName, trace.Kill)))}, syscall.ECONNRESET, 2},
		{"shutdown", []sim.Fault{Lasting(time.Second, When("client-1's request to storage is in flight, 2nd time", CrashOf(trace.StorageName, trace.Shutdown)))}, syscall.ECONNRESET, 2},
		{"kill when the second write has been applied", []sim.Fault{Lasting(time.Second, When("storage applied client-1's write, 2nd time", CrashOf(trace.StorageName, trace.Kill)))}, syscall.ECONNRESET, 3},
		{"power loss", []sim.Fault{Lasting(time.Second, When("client-1's request to storage is in flight, 2nd time", CrashOf(trace.StorageName, trace.PowerLoss)))}, syscall.ECONNRESET, 2},
		{"long power loss", []sim.Fault{Lasting(4*time.Second, When("client-1's request to storage is in flight, 2nd time", CrashOf(trace.StorageName, trace.PowerLoss)))}, context.DeadlineExceeded, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				write := storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v"}
				if _, err := p.Storage(ctx, write); err != nil {
					return err
				}
				_, err := p.Storage(WithTrueTimeout(ctx, 3*time.Second), write)
				if !errors.Is(err, test.err) {
					t.Errorf("the second write ended with %v, want %v", err, test.err)
				}
				SleepUntil(5 * time.Second)
				_, err = p.Storage(ctx, write)
				return err
			})), test.fault...))
			AllFaultsStruck(t, tr)
			Equal(t, "the version at the end", OnlyEvent(t, tr, trace.KindObject, trace.StorageName).Version, test.made)
		})
	}
}

// A failed dial takes time. A refused dial takes one round trip. A dial without an answer
// takes as long as its caller's deadline allows.
func TestFailedDialsCostTime(t *testing.T) {
	for _, test := range []struct {
		how   trace.Crash
		costs time.Duration
	}{{trace.Kill, 2 * Hop}, {trace.Shutdown, 2 * Hop}, {trace.PowerLoss, 5 * time.Second}} {
		t.Run(string(test.how), func(t *testing.T) {
			RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(time.Second)
				for i := range 2 {
					began := Now()
					if err := Toy(p, 0).Do(WithTrueTimeout(ctx, 5*time.Second), "ping"); err == nil {
						t.Error("a crashed node answered")
					}
					EqualTime(t, []string{"the first dial failed", "the second dial failed"}[i], Now()-began, test.costs)
				}
				return nil
			})), At(0, CrashOf("toy-1", test.how))))
		})
	}
}

// If a node crashes before it answers, the client cannot know whether its command took
// effect.
func TestCrashBetweenEffectAndAnswer(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault []sim.Fault
		sets  int
	}{
		{"the request is in flight", []sim.Fault{When("client-1's request to toy-1 is in flight", CrashOf("toy-1", trace.Kill))}, 0},
		{"the key has been set", []sim.Fault{When("client-1 holds toy-1", CrashOf("toy-1", trace.Kill))}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				err = Toy(p, 0).Do(ctx, "set k v")
				return nil
			})), test.fault...))
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("set ended with %v, want %v", err, syscall.ECONNRESET)
			}
			Equal(t, "number of keys set", len(Events(tr, trace.KindSet, "toy-1")), test.sets)
		})
	}
}

// When a paused node crashes, messages that it has received but not read are lost. The
// crash also ends the pause. After a suspension, the wall clock shows true time again.
func TestCrashDuringAPause(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		set    bool // whether the command that arrives during the pause takes effect
	}{
		{"no crash", []sim.Fault{Lasting(2*time.Second, At(time.Second, PauseOf("toy-1")))}, true},
		{"kill during a stop", []sim.Fault{
			Lasting(2*time.Second, At(time.Second, PauseOf("toy-1"))),
			Lasting(200*time.Millisecond, At(2*time.Second, CrashOf("toy-1", trace.Kill))),
		}, false},
		{"power loss during a suspension", []sim.Fault{
			Lasting(2*time.Second, At(time.Second, SuspensionOf("toy-1"))),
			Lasting(200*time.Millisecond, At(2*time.Second, CrashOf("toy-1", trace.PowerLoss))),
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answered time.Duration
			cfg := ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					_, err = Ask(conn, "set old v 5000")
					SleepUntil(1500 * time.Millisecond)
					_, err2 := conn.Write([]byte("set k v\n"))
					return errors.Join(err, err2)
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					SleepUntil(2500 * time.Millisecond)
					if !test.set {
						if err := Toy(p, 0).Do(ctx, "get old"); err != nil {
							return err
						}
					}
					answered = Now()
					SleepUntil(8 * time.Second)
					return nil
				}),
			)
			tr := RunWorld(t, WithFaults(cfg, test.faults...))
			AllFaultsStruck(t, tr)
			sets := 0
			for _, ev := range Events(tr, trace.KindSet, "toy-1") {
				if ev.Key == "k" {
					sets++
				}
			}
			Equal(t, "the command took effect", sets == 1, test.set)
			if test.set {
				EqualTime(t, "the older key expired", OnlyEvent(t, tr, trace.KindExpire, "toy-1").At, 3*Hop+5*time.Second)
			} else {
				EqualTime(t, "the older key was lost", OnlyEvent(t, tr, trace.KindForget, "toy-1").At, 2200*time.Millisecond)
				EqualTime(t, "the restarted node answered", answered, 2500*time.Millisecond+4*Hop)
			}
		})
	}
}

// Crashes that overlap act as one. The first decides how the node ends, and the node
// restarts when the last of them ends.
func TestOverlappingCrashes(t *testing.T) {
	tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		return p.Clock().Sleep(ctx, 10*time.Second)
	})),
		Lasting(2*time.Second, At(time.Second, CrashOf("toy-1", trace.PowerLoss))),
		Lasting(4*time.Second, At(2*time.Second, CrashOf("toy-1", trace.Kill))),
	))
	AllFaultsStruck(t, tr)
	crash := OnlyEvent(t, tr, trace.KindCrash, "toy-1")
	EqualTime(t, "the node crashed", crash.At, time.Second)
	Equal(t, "the manner of the crash", crash.Text, string(trace.PowerLoss))
	EqualTime(t, "the node restarted", OnlyEvent(t, tr, trace.KindRestart, "toy-1").At, 6*time.Second)
}
