package sim

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// crashed is a crash of a process.
func crashed(process string, how trace.Crash) *CrashFault { return &CrashFault{process, how} }

// What the end of a node does to a client that waits for its answer, to a dial
// while it is down, and to a connection that stays open over its restart.
func TestCrashAndTheConnections(t *testing.T) {
	type outcome struct {
		waits    error
		waited   time.Duration
		dials    error
		dialled  time.Duration
		restarts error // of the connection that was idle
	}
	const strikes = 2 * time.Second
	for _, test := range []struct {
		name   string
		faults []Fault
		want   outcome
	}{
		{"none", nil, outcome{
			os.ErrDeadlineExceeded, 5 * time.Second,
			nil, 3*time.Second + 2*hop,
			nil,
		}},
		// Its kernel resets its connections and refuses new ones.
		{"kill", []Fault{lasting(5*time.Second, at(strikes, crashed("redis-1", "")))}, outcome{
			syscall.ECONNRESET, strikes + hop,
			syscall.ECONNREFUSED, 3*time.Second + 2*hop,
			syscall.EPIPE,
		}},
		{"shutdown", []Fault{lasting(5*time.Second, at(strikes, crashed("redis-1", trace.Shutdown)))}, outcome{
			syscall.ECONNRESET, strikes + hop,
			syscall.ECONNREFUSED, 3*time.Second + 2*hop,
			syscall.EPIPE,
		}},
		// Nobody is told. The machine that has started again knows nothing of the
		// connection, and resets it.
		{"power loss", []Fault{lasting(5*time.Second, at(strikes, crashed("redis-1", trace.PowerLoss)))}, outcome{
			os.ErrDeadlineExceeded, 5 * time.Second,
			context.DeadlineExceeded, 6 * time.Second,
			syscall.ECONNRESET,
		}},
		{"power loss of another", []Fault{at(strikes, crashed(trace.StorageName, trace.PowerLoss))}, outcome{
			os.ErrDeadlineExceeded, 5 * time.Second,
			nil, 3*time.Second + 2*hop,
			nil,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					conn, err := dialTo(ctx, p, 0)
					if err != nil {
						return err
					}
					err = conn.SetReadDeadline(time.Now().Add(5*time.Second - now(p)))
					_, got.waits = ask(conn, "BLPOP list 0")
					got.waited = now(p)
					return err
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					sleepUntil(p, 3*time.Second)
					conn, err := dialTo(within(ctx, 3*time.Second), p, 0)
					got.dials, got.dialled = err, now(p)
					if err == nil {
						return conn.Close()
					}
					return nil
				}),
				client(t, "client-3", func(ctx context.Context, p *Program) error {
					conn, err := dialTo(ctx, p, 0)
					if err != nil {
						return err
					}
					sleepUntil(p, 8*time.Second)
					_, got.restarts = ask(conn, "PING")
					return nil
				}),
			), test.faults...))
			struck(t, tr)
			for _, e := range []struct {
				what      string
				got, want error
			}{{"the read", got.waits, test.want.waits}, {"the dial", got.dials, test.want.dials}, {"the idle connection", got.restarts, test.want.restarts}} {
				if !errors.Is(e.got, e.want) || e.want == nil && e.got != nil {
					t.Errorf("%s ended with %v, want %v", e.what, e.got, e.want)
				}
			}
			about(t, "the read ended", got.waited, test.want.waited)
			about(t, "the dial ended", got.dialled, test.want.dialled)
			if test.want.dials != nil {
				only(t, tr, trace.KindRefuse, "client-2")
			}
		})
	}
}

// A connection that has sent something to a machine without power learns of it
// when the machine runs again: the client's kernel keeps sending, and is answered
// with a reset.
func TestRestartResetsAWaitingConnection(t *testing.T) {
	var err error
	var ended time.Duration
	play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		conn, failed := dialTo(ctx, p, 0)
		if failed != nil {
			return failed
		}
		sleepUntil(p, 3*time.Second)
		_, err = ask(conn, "PING")
		ended = now(p)
		return nil
	})), lasting(5*time.Second, at(2*time.Second, crashed("redis-1", trace.PowerLoss)))))
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the read ended with %v", err)
	}
	about(t, "it ended", ended, 7*time.Second+2*hop)
}

// A dial to a machine without power is answered when it has started again.
func TestDialOverARestart(t *testing.T) {
	for _, test := range []struct {
		how   trace.Crash
		fails error
		ends  time.Duration
	}{
		{trace.PowerLoss, nil, 4*time.Second + 2*hop},
		{trace.Kill, syscall.ECONNREFUSED, 3*time.Second + 2*hop},
	} {
		t.Run(string(test.how), func(t *testing.T) {
			play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				sleepUntil(p, 3*time.Second)
				_, err := dialTo(within(ctx, 5*time.Second), p, 0)
				if !errors.Is(err, test.fails) {
					t.Errorf("the dial ended with %v", err)
				}
				about(t, "the dial ended", now(p), test.ends)
				return nil
			})), lasting(2*time.Second, at(2*time.Second, crashed("redis-1", test.how)))))
		})
	}
}

// A node that restarts has lost its scripts, whatever it persists.
func TestRestartLosesScripts(t *testing.T) {
	for _, persistence := range Persistences() {
		t.Run(string(persistence), func(t *testing.T) {
			for _, crash := range []bool{false, true} {
				var loaded, again error
				cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
					r := libraryClient(p)
					defer r.Close()
					sha, err := r.ScriptLoad(ctx, "return 7").Result()
					if err != nil {
						return err
					}
					loaded = r.EvalSha(ctx, sha, nil).Err()
					sleepUntil(p, 3*time.Second)
					again = r.EvalSha(ctx, sha, nil).Err()
					return r.Eval(ctx, "return 7", nil).Err()
				}))
				cfg.Nodes[0].Persistence = persistence
				if crash {
					cfg = with(cfg, lasting(time.Second, at(time.Second, crashed("redis-1", trace.Shutdown))))
				}
				play(t, cfg)
				same(t, "the first EVALSHA", loaded, nil)
				if lost := again != nil && strings.HasPrefix(again.Error(), "NOSCRIPT"); lost != crash {
					t.Errorf("crash %v: EVALSHA ended with %v", crash, again)
				}
			}
		})
	}
}

// A client that has crashed never acts again: its I/O blocks until the end. What
// it had sent arrives.
func TestCrashOfAClient(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault []Fault
		sets  string
		told  trace.Kind // what the node sees of it
	}{
		{"none", nil, "first second third", ""},
		{"kill", []Fault{at(2500*time.Millisecond, crashed("client-1", trace.Kill))}, "first second", trace.KindReset},
		{"power loss", []Fault{at(2500*time.Millisecond, crashed("client-1", trace.PowerLoss))}, "first second", ""},
		{"kill with a request in flight", []Fault{when("client-1's write request to redis-1 is in flight", crashed("client-1", trace.Kill))}, "first second", trace.KindReset},
		{"power loss with a request in flight", []Fault{when("client-1's write request to redis-1 is in flight", crashed("client-1", trace.PowerLoss))}, "first second", ""},
		{"kill before a step", []Fault{before("client-1 write", crashed("client-1", trace.Kill))}, "first", trace.KindReset},
		{"power loss behind a partition", []Fault{
			lasting(3*time.Second, at(1500*time.Millisecond, &Partition{"client-1", []string{"redis-1"}, ""})),
			at(2500*time.Millisecond, crashed("client-1", trace.PowerLoss)),
		}, "first", ""},
		// The kernel of a killed process still sends what it was given.
		{"kill behind a partition", []Fault{
			lasting(3*time.Second, at(1500*time.Millisecond, &Partition{"client-1", []string{"redis-1"}, ""})),
			at(2500*time.Millisecond, crashed("client-1", trace.Kill)),
		}, "first second", trace.KindReset},
		{"that would restart", []Fault{lasting(time.Second, at(2500*time.Millisecond, crashed("client-1", trace.Kill)))}, "first second", trace.KindReset},
	} {
		t.Run(test.name, func(t *testing.T) {
			returned := false
			tr := play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					conn, err := dialTo(ctx, p, 0)
					if err != nil {
						return err
					}
					sleepUntil(p, time.Second)
					_, err = ask(conn, "SET k first")
					sleepUntil(p, 2*time.Second)
					_ = p.Step(trace.Write, func() error {
						_, err := ask(conn, "SET k second")
						return err
					})
					sleepUntil(p, 3*time.Second)
					_, err3 := ask(conn, "SET k third")
					returned = err3 == nil
					if len(test.fault) > 0 {
						return nil
					}
					return errors.Join(err, err3)
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					return p.Clock().Sleep(ctx, 10*time.Second)
				}),
			), test.fault...))
			struck(t, tr)
			var values []string
			for _, ev := range events(tr, trace.KindSet, "redis-1") {
				values = append(values, ev.Value)
			}
			same(t, "values set", strings.Join(values, " "), test.sets)
			same(t, "the last write returned", returned, len(test.fault) == 0)
			if test.told != "" {
				only(t, tr, test.told, "redis-1")
			} else {
				none(t, tr, trace.KindReset, "redis-1")
			}
			if len(test.fault) == 0 {
				return
			}
			none(t, tr, trace.KindRestart, "client-1")
			none(t, tr, trace.KindDone, "client-1")
			crash := only(t, tr, trace.KindCrash, "client-1")
			for _, ev := range tr.Events {
				if ev.Seq > crash.Seq && ev.Process == "client-1" && ev.Kind != trace.KindLose {
					t.Errorf("after the crash: %s %s at %v", ev.Kind, ev.Text, ev.At)
				}
			}
		})
	}
}

// The storage keeps its record on disk: a crash costs its connections and what
// was under way.
func TestCrashOfTheStorage(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault []Fault
		err   error
		made  int // versions at the end
	}{
		{"none", nil, nil, 3},
		{"kill", []Fault{lasting(time.Second, when("client-1's request to storage is in flight, 2nd time", crashed(trace.StorageName, trace.Kill)))}, syscall.ECONNRESET, 2},
		{"shutdown", []Fault{lasting(time.Second, when("client-1's request to storage is in flight, 2nd time", crashed(trace.StorageName, trace.Shutdown)))}, syscall.ECONNRESET, 2},
		{"once it was applied", []Fault{lasting(time.Second, when("storage applied client-1's write, 2nd time", crashed(trace.StorageName, trace.Kill)))}, syscall.ECONNRESET, 3},
		{"power loss", []Fault{lasting(time.Second, when("client-1's request to storage is in flight, 2nd time", crashed(trace.StorageName, trace.PowerLoss)))}, syscall.ECONNRESET, 2},
		{"long power loss", []Fault{lasting(4*time.Second, when("client-1's request to storage is in flight, 2nd time", crashed(trace.StorageName, trace.PowerLoss)))}, errGaveUp, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				write := storage.Request{Op: storage.Write, Object: trace.Object, Value: "v"}
				if _, err := p.Storage(ctx, write); err != nil {
					return err
				}
				_, err := p.g.call(ctx, nil, write, nil, 3*time.Second)
				if !errors.Is(err, test.err) {
					t.Errorf("the second write ended with %v", err)
				}
				sleepUntil(p, 5*time.Second)
				_, err = p.Storage(ctx, write)
				return err
			})), test.fault...))
			struck(t, tr)
			same(t, "version", only(t, tr, trace.KindObject, trace.StorageName).Version, test.made)
		})
	}
}

// A failed dial costs time: a refused one a round trip, an unanswered one what
// its caller allows, here go-redis's five seconds.
func TestFailedDialsCostTime(t *testing.T) {
	for _, test := range []struct {
		how   trace.Crash
		costs time.Duration
	}{{trace.Kill, 2 * hop}, {trace.Shutdown, 2 * hop}, {trace.PowerLoss, 5 * time.Second}} {
		t.Run(string(test.how), func(t *testing.T) {
			play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				sleepUntil(p, time.Second)
				for i := range 2 {
					began := now(p)
					if err := p.Redis(0).Ping(ctx).Err(); err == nil {
						t.Error("a dead node answered")
					}
					about(t, []string{"the first dial", "the second dial"}[i], now(p)-began, test.costs)
				}
				return nil
			})), at(0, crashed("redis-1", test.how))))
		})
	}
}

// What a node has not yet answered when it dies may have taken effect or not:
// the client cannot tell.
func TestCrashBetweenEffectAndAnswer(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault []Fault
		sets  int
	}{
		{"in flight", []Fault{when("client-1's request to redis-1 is in flight", crashed("redis-1", trace.Kill))}, 0},
		{"done", []Fault{when("client-1 holds redis-1", crashed("redis-1", trace.Kill))}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				err = p.Redis(0).Set(ctx, "k", "v", 0).Err()
				return nil
			})), test.fault...))
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
				t.Errorf("SET ended with %v", err)
			}
			same(t, "keys set", len(events(tr, trace.KindSet, "redis-1")), test.sets)
		})
	}
}

// A subscriber and a blocked client of a node that dies are left in the lurch,
// and leave nothing behind.
func TestCrashWithBlockedClients(t *testing.T) {
	for _, how := range []trace.Crash{trace.Kill, trace.PowerLoss, trace.Shutdown} {
		t.Run(string(how), func(t *testing.T) {
			var blocked error
			var heard []string
			play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					blocked = p.Redis(0).BLPop(within(ctx, 8*time.Second), 0, "list").Err()
					return nil
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					sub := libraryClient(p).Subscribe(ctx, "news")
					for {
						m, err := sub.ReceiveTimeout(within(ctx, 8*time.Second), 8*time.Second)
						if err != nil {
							return sub.Close()
						}
						if m, ok := m.(*redis.Message); ok {
							heard = append(heard, m.Payload)
						}
					}
				}),
				client(t, "client-3", func(ctx context.Context, p *Program) error {
					r := libraryClient(p)
					defer r.Close()
					sleepUntil(p, time.Second)
					err := r.Publish(ctx, "news", "before").Err()
					sleepUntil(p, 4*time.Second)
					err = errors.Join(err, ignore(r.Publish(ctx, "news", "after").Err(), syscall.ECONNRESET))
					return errors.Join(err, r.Publish(ctx, "news", "after").Err(), r.RPush(ctx, "list", "x").Err())
				}),
			), lasting(time.Second, at(2*time.Second, crashed("redis-1", how)))))
			if blocked == nil {
				t.Error("BLPOP was answered by a node that had forgotten it")
			}
			same(t, "heard", strings.Join(heard, " "), "before")
		})
	}
}

// What a paused node had received but not read is gone when it crashes; so is the
// pause, and a suspended machine's wall clock has gone on meanwhile.
func TestCrashDuringAPause(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []Fault
		set    bool
	}{
		{"no crash", []Fault{lasting(2*time.Second, at(time.Second, stopped("redis-1")))}, true},
		{"stop", []Fault{
			lasting(2*time.Second, at(time.Second, stopped("redis-1"))),
			lasting(200*time.Millisecond, at(2*time.Second, crashed("redis-1", trace.Kill))),
		}, false},
		{"suspend", []Fault{
			lasting(2*time.Second, at(time.Second, suspended("redis-1"))),
			lasting(200*time.Millisecond, at(2*time.Second, crashed("redis-1", trace.PowerLoss))),
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answered time.Duration
			cfg := story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					conn, err := dialTo(ctx, p, 0)
					if err != nil {
						return err
					}
					_, err = ask(conn, "SET old v PX 5000")
					sleepUntil(p, 1500*time.Millisecond)
					_, err2 := conn.Write([]byte("SET k v\r\n"))
					return errors.Join(err, err2)
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					sleepUntil(p, 2500*time.Millisecond)
					if !test.set {
						if err := p.Redis(0).Get(ctx, "old").Err(); err != nil {
							return err
						}
					}
					answered = now(p)
					sleepUntil(p, 8*time.Second)
					return nil
				}),
			)
			cfg.Nodes[0].Persistence = Always
			tr := play(t, with(cfg, test.faults...))
			struck(t, tr)
			sets := 0
			for _, ev := range events(tr, trace.KindSet, "redis-1") {
				if ev.Key == "k" {
					sets++
				}
			}
			same(t, "the command took effect", sets == 1, test.set)
			about(t, "the older key expired", first(t, tr, trace.KindExpire, "redis-1").At, 3*hop+5*time.Second)
			if !test.set {
				about(t, "a restarted node answers", answered, 2500*time.Millisecond+6*hop)
			}
		})
	}
}

// Crashes that overlap are one: the first says how, and the node restarts when
// the last of them ends.
func TestOverlappingCrashes(t *testing.T) {
	tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		return p.Clock().Sleep(ctx, 10*time.Second)
	})),
		lasting(2*time.Second, at(time.Second, crashed("redis-1", trace.PowerLoss))),
		lasting(4*time.Second, at(2*time.Second, crashed("redis-1", trace.Kill))),
	))
	struck(t, tr)
	crash := only(t, tr, trace.KindCrash, "redis-1")
	about(t, "the crash", crash.At, time.Second)
	same(t, "how", crash.Text, string(trace.PowerLoss))
	about(t, "the restart", only(t, tr, trace.KindRestart, "redis-1").At, 6*time.Second)
}
