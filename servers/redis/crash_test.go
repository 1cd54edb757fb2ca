package redis_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/trace"
)

// A node that restarts has lost its scripts, whatever it persists.
func TestRestartLosesScripts(t *testing.T) {
	for _, persistence := range persistences() {
		t.Run(string(persistence), func(t *testing.T) {
			for _, crash := range []bool{false, true} {
				var loaded, again error
				cfg := story(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					r := libraryClient(p)
					defer r.Close()
					sha, err := r.ScriptLoad(ctx, "return 7").Result()
					if err != nil {
						return err
					}
					loaded = r.EvalSha(ctx, sha, nil).Err()
					SleepUntil(3 * time.Second)
					again = r.EvalSha(ctx, sha, nil).Err()
					return r.Eval(ctx, "return 7", nil).Err()
				}))
				cfg.Nodes[0].Persistence = persistence
				if crash {
					cfg = With(cfg, Lasting(time.Second, At(time.Second, Crashed("redis-1", trace.Shutdown))))
				}
				Play(t, cfg)
				Same(t, "the first EVALSHA", loaded, nil)
				if lost := again != nil && strings.HasPrefix(again.Error(), "NOSCRIPT"); lost != crash {
					t.Errorf("crash %v: EVALSHA ended with %v", crash, again)
				}
			}
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
			Play(t, With(story(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					blocked = p.Env().Redis(0).BLPop(Within(ctx, 8*time.Second), 0, "list").Err()
					return nil
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					sub := libraryClient(p).Subscribe(ctx, "news")
					for {
						m, err := sub.ReceiveTimeout(Within(ctx, 8*time.Second), 8*time.Second)
						if err != nil {
							return sub.Close()
						}
						if m, ok := m.(*redis.Message); ok {
							heard = append(heard, m.Payload)
						}
					}
				}),
				Client(t, "client-3", func(ctx context.Context, p *sim.Program) error {
					r := libraryClient(p)
					defer r.Close()
					SleepUntil(time.Second)
					err := r.Publish(ctx, "news", "before").Err()
					SleepUntil(4 * time.Second)
					if lost := r.Publish(ctx, "news", "after").Err(); !errors.Is(lost, syscall.ECONNRESET) {
						err = errors.Join(err, lost)
					}
					return errors.Join(err, r.Publish(ctx, "news", "after").Err(), r.RPush(ctx, "list", "x").Err())
				}),
			), Lasting(time.Second, At(2*time.Second, Crashed("redis-1", how)))))
			if blocked == nil {
				t.Error("BLPOP was answered by a node that had forgotten it")
			}
			Same(t, "heard", strings.Join(heard, " "), "before")
		})
	}
}

// What a paused node had received but not read is gone when it crashes; so is the
// pause, and a suspended machine's wall clock has gone on meanwhile.
func TestCrashDuringAPause(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		set    bool
	}{
		{"no crash", []sim.Fault{Lasting(2*time.Second, At(time.Second, Stopped("redis-1")))}, true},
		{"stop", []sim.Fault{
			Lasting(2*time.Second, At(time.Second, Stopped("redis-1"))),
			Lasting(200*time.Millisecond, At(2*time.Second, Crashed("redis-1", trace.Kill))),
		}, false},
		{"suspend", []sim.Fault{
			Lasting(2*time.Second, At(time.Second, Suspended("redis-1"))),
			Lasting(200*time.Millisecond, At(2*time.Second, Crashed("redis-1", trace.PowerLoss))),
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answered time.Duration
			cfg := story(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					_, err = Ask(conn, "SET old v PX 5000")
					SleepUntil(1500 * time.Millisecond)
					_, err2 := conn.Write([]byte("SET k v\r\n"))
					return errors.Join(err, err2)
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					SleepUntil(2500 * time.Millisecond)
					if !test.set {
						if err := p.Env().Redis(0).Get(ctx, "old").Err(); err != nil {
							return err
						}
					}
					answered = Now()
					SleepUntil(8 * time.Second)
					return nil
				}),
			)
			cfg.Nodes[0].Persistence = server.Always
			tr := Play(t, With(cfg, test.faults...))
			Struck(t, tr)
			sets := 0
			for _, ev := range Events(tr, trace.KindSet, "redis-1") {
				if ev.Key == "k" {
					sets++
				}
			}
			Same(t, "the command took effect", sets == 1, test.set)
			About(t, "the older key expired", First(t, tr, trace.KindExpire, "redis-1").At, 3*Hop+5*time.Second)
			if !test.set {
				About(t, "a restarted node answers", answered, 2500*time.Millisecond+6*Hop)
			}
		})
	}
}
