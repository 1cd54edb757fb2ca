package redis_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A node that restarts has lost its scripts, whatever its persistence.
func TestRestartLosesScripts(t *testing.T) {
	for _, persistence := range persistences() {
		t.Run(string(persistence), func(t *testing.T) {
			for _, crash := range []bool{false, true} {
				var loaded, again error
				cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
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
					cfg = WithFaults(cfg, Lasting(time.Second, At(time.Second, CrashOf("redis-1", trace.Shutdown))))
				}
				RunWorld(t, cfg)
				Equal(t, "the error of the first EVALSHA", loaded, nil)
				if lost := again != nil && strings.HasPrefix(again.Error(), "NOSCRIPT"); lost != crash {
					t.Errorf("crash: %v: the second EVALSHA ended with error %v, want NOSCRIPT only after a crash", crash, again)
				}
			}
		})
	}
}

// A subscriber and a blocked client of a node that dies get no answer, and leave nothing
// behind.
func TestCrashWithBlockedClients(t *testing.T) {
	for _, how := range []trace.Crash{trace.Kill, trace.PowerLoss, trace.Shutdown} {
		t.Run(string(how), func(t *testing.T) {
			var blocked error
			var heard []string
			RunWorld(t, WithFaults(redisWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					blocked = locks.RedisClient(p.Env(), 0).BLPop(WithTrueTimeout(ctx, 8*time.Second), 0, "list").Err()
					return nil
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					sub := libraryClient(p).Subscribe(ctx, "news")
					for {
						m, err := sub.ReceiveTimeout(WithTrueTimeout(ctx, 8*time.Second), 8*time.Second)
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
			), Lasting(time.Second, At(2*time.Second, CrashOf("redis-1", how)))))
			if blocked == nil {
				t.Error("BLPOP was answered by a node that had crashed since, want a timeout")
			}
			Equal(t, "the messages that client-2 received", strings.Join(heard, " "), "before")
		})
	}
}
