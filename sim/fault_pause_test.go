package sim

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// stopped and suspended are pauses of a process.
func stopped(process string) *Pause   { return &Pause{Process: process} }
func suspended(process string) *Pause { return &Pause{Process: process, Mode: trace.Suspend} }

// What a pause from 1s to 4s does to a client that sleeps two seconds, or ten,
// from the start.
func TestPauseAndTheClient(t *testing.T) {
	type rest struct {
		two, ten        time.Duration // when a sleep of so many seconds returned
		wall, monotonic time.Duration // that passed on each clock until the later
	}
	for _, test := range []struct {
		name   string
		faults []Fault
		want   rest
	}{
		{"no pause", nil, rest{2 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		// Both clocks run on: what is due meanwhile fires on resume.
		{"stop", []Fault{lasting(3*time.Second, at(time.Second, stopped("client-1")))}, rest{4 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		// The monotonic clock stands still, the wall clock catches up.
		{"suspend", []Fault{lasting(3*time.Second, at(time.Second, suspended("client-1")))}, rest{5 * time.Second, 13 * time.Second, 13 * time.Second, 10 * time.Second}},
		{"stop of another process", []Fault{lasting(3*time.Second, at(time.Second, stopped("redis-1")))}, rest{2 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got rest
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				c := p.Clock()
				wall, monotonic := c.Now(), c.Read(fakeclock.Monotonic)
				if err := c.Sleep(ctx, 2*time.Second); err != nil {
					return err
				}
				got.two = now(p).Round(time.Microsecond)
				err := c.Sleep(ctx, 10*time.Second-c.Read(fakeclock.Monotonic).Sub(monotonic))
				got.ten = now(p).Round(time.Microsecond)
				got.wall = c.Now().Sub(wall).Round(time.Microsecond)
				got.monotonic = c.Read(fakeclock.Monotonic).Sub(monotonic).Round(time.Microsecond)
				return err
			})), test.faults...))
			struck(t, tr)
			same(t, "the client's rest", got, test.want)
			none(t, tr, trace.KindRanOn, "client-1")
			if len(test.faults) > 0 {
				paused := tr.Faults[0].Text
				process := test.faults[0].Action.(*Pause).Process
				about(t, paused, only(t, tr, trace.KindPause, process).At, time.Second)
				about(t, paused+" ended", only(t, tr, trace.KindResume, process).At, 4*time.Second)
			}
		})
	}
}

// While a machine is suspended its wall clock stands still; then it jumps.
func TestSuspendedClockStandsStill(t *testing.T) {
	tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		return p.Clock().Sleep(ctx, 2*time.Second)
	})), lasting(3*time.Second, at(time.Second, suspended("client-1")))))
	changes := events(tr, trace.KindClock, "client-1")
	if len(changes) != 3 {
		t.Fatalf("%d changes of the clock\n%s", len(changes), tell(tr))
	}
	start, halt, resume := changes[0].Clocks, changes[1].Clocks, changes[2].Clocks
	same(t, "the first change", halt.Why, "suspend")
	same(t, "halted", halt.Halted, true)
	same(t, "the second change", resume.Why, "resume")
	same(t, "halted after it", resume.Halted, false)
	about(t, "suspended by the wall clock", time.Duration(halt.Wall-start.Wall), time.Second)
	about(t, "resumed by the wall clock", time.Duration(resume.Wall-start.Wall), 4*time.Second)
	about(t, "resumed by the monotonic clock", time.Duration(resume.Monotonic-start.Monotonic), time.Second)
}

// A paused node answers when it resumes. Its keys end by its wall clock: on time
// if the pause was over by then, when it resumes if its machine was suspended.
func TestPauseAndTheNode(t *testing.T) {
	for _, test := range []struct {
		name     string
		faults   []Fault
		answered time.Duration
		value    string
		expired  time.Duration
	}{
		{"no pause", nil, 1500*time.Millisecond + 2*hop, "v", arrival + 2*time.Second},
		{"stop", []Fault{lasting(3*time.Second, at(time.Second, stopped("redis-1")))}, 4*time.Second + hop, "", arrival + 2*time.Second},
		{"suspend", []Fault{lasting(3*time.Second, at(time.Second, suspended("redis-1")))}, 4*time.Second + hop, "", 4 * time.Second},
		{"short suspend", []Fault{lasting(700*time.Millisecond, at(time.Second, suspended("redis-1")))}, 1700*time.Millisecond + hop, "v", arrival + 2*time.Second},
		{"stop at a point", []Fault{until("2s after redis-1 paused", when("client-1 holds redis-1", stopped("redis-1")))}, arrival + 2*time.Second + hop, "", arrival + 2*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var value string
			var answered time.Duration
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				conn, err := dialTo(ctx, p, 0)
				if err != nil {
					return err
				}
				sleepUntil(p, arrival-hop)
				if _, err := conn.Write([]byte("SET k v EX 2\r\n")); err != nil {
					return err
				}
				sleepUntil(p, 1500*time.Millisecond)
				if _, err := conn.Write([]byte("GET k\r\n")); err != nil {
					return err
				}
				var heard string
				for len(heard) < len("+OK\r\n$-1\r\n") {
					more, err := hear(conn)
					if err != nil {
						return err
					}
					heard += more
				}
				answered = now(p)
				if heard == "+OK\r\n$1\r\nv\r\n" {
					value = "v"
				} else if heard != "+OK\r\n$-1\r\n" && heard != "+OK\r\n_\r\n" {
					t.Errorf("the node answered %q", heard)
				}
				return p.Clock().Sleep(ctx, 10*time.Second)
			})), test.faults...))
			struck(t, tr)
			about(t, "the answer", answered, test.answered)
			same(t, "the value", value, test.value)
			about(t, "the key expired", only(t, tr, trace.KindExpire, "redis-1").At, test.expired)
		})
	}
}

// The kernel of a stopped node still accepts connections; the node answers when
// it resumes.
func TestDialToAStoppedNode(t *testing.T) {
	for _, test := range []struct {
		name             string
		faults           []Fault
		opened, answered time.Duration
	}{
		{"no pause", nil, 2*time.Second + 2*hop, 2*time.Second + 4*hop},
		{"stop", []Fault{lasting(3*time.Second, at(time.Second, stopped("redis-1")))}, 2*time.Second + 2*hop, 4*time.Second + hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var opened, answered time.Duration
			play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				sleepUntil(p, 2*time.Second)
				conn, err := dialTo(ctx, p, 0)
				if err != nil {
					return err
				}
				opened = now(p)
				reply, err := ask(conn, "PING")
				same(t, "the reply", reply, "+PONG\r\n")
				answered = now(p)
				return err
			})), test.faults...))
			about(t, "the connection", opened, test.opened)
			about(t, "the answer", answered, test.answered)
		})
	}
}

// What arrives at a paused storage takes effect when it resumes.
func TestPauseAndTheStorage(t *testing.T) {
	cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		sleepUntil(p, 2*time.Second)
		_, err := p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.Object, Value: "v"})
		return err
	}))
	const arrives = 2*time.Second + 3*hop // the connection is opened first
	for _, test := range []struct {
		name   string
		faults []Fault
		at     time.Duration
	}{
		{"no pause", nil, arrives},
		{"stop", []Fault{lasting(3*time.Second, at(time.Second, stopped(trace.StorageName)))}, 4 * time.Second},
		{"suspend", []Fault{lasting(3*time.Second, at(time.Second, suspended(trace.StorageName)))}, 4 * time.Second},
		{"at a point", []Fault{lasting(5*time.Second, when("client-1's request to storage is in flight", stopped(trace.StorageName)))}, arrives - hop + 5*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := play(t, with(cfg, test.faults...))
			struck(t, tr)
			about(t, "the write was applied", only(t, tr, trace.KindServe, trace.StorageName).At, test.at)
			about(t, "the answer", only(t, tr, trace.KindDone, "client-1").At, test.at+hop)
		})
	}
}

// A read whose answer arrived while the process was paused returns it, although
// its deadline has passed.
func TestBytesThatArrivedDuringAPauseAreReadFirst(t *testing.T) {
	for _, mode := range []trace.PauseMode{trace.Stop, trace.Suspend} {
		t.Run(string(mode), func(t *testing.T) {
			var value string
			var answered time.Duration
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				r := p.Redis(0)
				if err := r.Set(ctx, "k", "v", 0).Err(); err != nil {
					return err
				}
				sleepUntil(p, time.Second)
				var err error
				value, err = r.Get(within(ctx, 100*time.Millisecond), "k").Result()
				answered = now(p)
				return err
			})), lasting(5*time.Second, at(time.Second+hop, &Pause{"client-1", mode}))))
			about(t, "the reply arrived", events(tr, trace.KindDeliver, "client-1")[2].At, time.Second+2*hop)
			same(t, "the value", value, "v")
			about(t, "it was read", answered, 6*time.Second+hop)
			none(t, tr, trace.KindTimeout, "client-1")
		})
	}
}

// While a process is paused no deadline passes. One that has passed by then ends
// the read on resume; a suspended machine has as much time left as it had.
func TestDeadlinesArePaused(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []Fault
		ends   time.Duration
	}{
		{"no pause", nil, time.Second},
		{"stop", []Fault{lasting(5*time.Second, at(400*time.Millisecond, stopped("client-1")))}, 5400 * time.Millisecond},
		{"short stop", []Fault{lasting(500*time.Millisecond, at(400*time.Millisecond, stopped("client-1")))}, time.Second},
		{"suspend", []Fault{lasting(5*time.Second, at(400*time.Millisecond, suspended("client-1")))}, 6 * time.Second},
		{"two suspends", []Fault{
			lasting(time.Second, at(400*time.Millisecond, suspended("client-1"))),
			lasting(time.Second, at(1500*time.Millisecond, suspended("client-1"))),
		}, 3 * time.Second},
		{"of the node", []Fault{lasting(5*time.Second, at(400*time.Millisecond, suspended("redis-1")))}, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ended time.Duration
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				conn, err := dialTo(ctx, p, 0)
				if err != nil {
					return err
				}
				if err := conn.SetReadDeadline(time.Now().Add(time.Second - now(p))); err != nil {
					return err
				}
				if _, err := hear(conn); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the read ended with %v", err)
				}
				ended = now(p)
				return nil
			})), test.faults...))
			struck(t, tr)
			about(t, "the read ended", ended, test.ends)
			about(t, "the timeout", only(t, tr, trace.KindTimeout, "client-1").At, test.ends)
		})
	}
}

// A library that knows nothing of its process's clocks runs on while it is
// paused, but nothing of that gets out before it resumes; and the trace says so.
func TestLibraryTimersRunOnWhilePaused(t *testing.T) {
	acts := map[string]func(ctx context.Context, p *Program) error{
		"write": func(ctx context.Context, p *Program) error {
			r := p.Redis(0)
			if err := r.Ping(ctx).Err(); err != nil {
				return err
			}
			sleepUntil(p, 2*time.Second)
			return r.Set(ctx, "k", "v", 0).Err()
		},
		"dial": func(ctx context.Context, p *Program) error {
			sleepUntil(p, 2*time.Second)
			conn, err := dialTo(ctx, p, 0)
			if err == nil {
				_, err = ask(conn, "SET k v")
			}
			return err
		},
		"close": func(ctx context.Context, p *Program) error {
			conn, err := dialTo(ctx, p, 0)
			if err != nil {
				return err
			}
			sleepUntil(p, 2*time.Second)
			_, err = ask(conn, "SET k v")
			return errors.Join(err, conn.Close())
		},
	}
	for name, act := range acts {
		for _, mode := range []trace.PauseMode{trace.Stop, trace.Suspend} {
			t.Run(name+" during a "+string(mode), func(t *testing.T) {
				tr := play(t, with(story(client(t, "client-1", act)), lasting(3*time.Second, at(time.Second, &Pause{"client-1", mode}))))
				about(t, "it ran on", only(t, tr, trace.KindRanOn, "client-1").At, 2*time.Second)
				if set := only(t, tr, trace.KindSet, "redis-1").At; set < 4*time.Second+hop {
					t.Errorf("the key was set at %v\n%s", set, tell(tr))
				}
				for _, ev := range tr.Events {
					if ev.Kind == trace.KindSend && ev.Process == "client-1" && ev.At > time.Second && ev.At < 4*time.Second {
						t.Errorf("it sent %s at %v", ev.Text, ev.At)
					}
				}
			})
		}
		t.Run(name+" without a pause", func(t *testing.T) {
			tr := play(t, story(client(t, "client-1", act)))
			none(t, tr, trace.KindRanOn, "client-1")
			if set := only(t, tr, trace.KindSet, "redis-1").At; set > 2*time.Second+5*hop {
				t.Errorf("the key was set at %v", set)
			}
		})
	}
}

// A pause before a step strikes when the step is about to begin; what the client
// does in it happens after the pause, and before the rest of its I/O.
func TestPauseBeforeAStep(t *testing.T) {
	cfg := story(
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			answered := make(chan error, 1)
			go func() {
				// A read that is under way when the pause strikes, and a command
				// right after it.
				r := p.Redis(0)
				err := r.BLPop(ctx, 0, "list").Err()
				answered <- errors.Join(err, r.Set(ctx, "k", "v", 0).Err())
			}()
			sleepUntil(p, time.Second)
			err := p.Step(trace.Write, func() error {
				_, err := p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.Object, Value: "v"})
				return err
			})
			return errors.Join(err, <-answered)
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, 2*time.Second)
			return p.Redis(0).RPush(ctx, "list", "x").Err()
		}),
	)
	t.Run("without", func(t *testing.T) {
		tr := play(t, cfg)
		about(t, "the write began", only(t, tr, trace.KindBegin, "client-1").At, time.Second)
	})
	for _, mode := range []trace.PauseMode{trace.Stop, trace.Suspend} {
		t.Run(string(mode), func(t *testing.T) {
			tr := play(t, with(cfg, until("3s after client-2 finished", before("client-1 write", &Pause{"client-1", mode}))))
			struck(t, tr)
			about(t, "the pause", only(t, tr, trace.KindPause, "client-1").At, time.Second)
			resume := only(t, tr, trace.KindResume, "client-1")
			about(t, "its end", resume.At, 5*time.Second+6*hop)
			begin := only(t, tr, trace.KindBegin, "client-1")
			if begin.Seq < resume.Seq || begin.At > resume.At+time.Microsecond {
				t.Errorf("the write began at %v (%d)\n%s", begin.At, begin.Seq, tell(tr))
			}
			serve := only(t, tr, trace.KindServe, trace.StorageName).At
			about(t, "the write arrived", serve, resume.At+3*hop) // it opens a connection first
			var sent []string
			for _, ev := range tr.Events {
				if ev.Seq > resume.Seq && ev.Kind == trace.KindSend && ev.Process == "client-1" {
					sent = append(sent, ev.Text)
				}
			}
			if len(sent) != 2 {
				t.Errorf("after the pause it sent %q", sent)
			}
		})
	}
}

// A pause takes effect after the request that it strikes in flight was sent, and
// the answer waits.
func TestPauseWhileARequestIsInFlight(t *testing.T) {
	var got time.Duration
	tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		err := p.Redis(0).Set(ctx, "k", "v", 0).Err()
		got = now(p)
		return err
	})), lasting(2*time.Second, when("client-1's request to redis-1 is in flight", stopped("client-1")))))
	about(t, "the key was set", only(t, tr, trace.KindSet, "redis-1").At, arrival)
	about(t, "the answer was read", got, arrival-hop+2*time.Second)
}

// Pauses that overlap are one: the first says how, and it ends with the last.
func TestOverlappingPauses(t *testing.T) {
	for _, first := range []trace.PauseMode{trace.Stop, trace.Suspend} {
		t.Run(string(first), func(t *testing.T) {
			var woke time.Duration
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				err := p.Clock().Sleep(ctx, 2*time.Second)
				woke = now(p)
				return err
			})),
				lasting(3*time.Second, at(time.Second, &Pause{"client-1", first})),
				lasting(4*time.Second, at(2*time.Second-hop, stopped("client-1"))),
			))
			struck(t, tr)
			about(t, "the pause", only(t, tr, trace.KindPause, "client-1").At, time.Second)
			resumed := only(t, tr, trace.KindResume, "client-1").At
			about(t, "its end", resumed, 6*time.Second-hop)
			if first == trace.Suspend {
				resumed += time.Second // which it had still to sleep
			}
			about(t, "the client woke", woke, resumed)
		})
	}
}
