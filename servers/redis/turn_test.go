package redis_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// concurrentWorld returns a world with a program whose goroutines use one go-redis client.
// They start at the same moment, or each by the time apart after the one before.
func concurrentWorld(t *testing.T, apart time.Duration, open func(*sim.Program) *redis.Client, do ...func(context.Context, *redis.Client) error) sim.Config {
	return redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		r := open(p)
		var all sync.WaitGroup
		for i, do := range do {
			all.Go(func() {
				time.Sleep(time.Duration(i) * apart)
				if err := do(ctx, r); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return nil
	}))
}

// sharedClient returns a client whose goroutines take turns.
func sharedClient(p *sim.Program) *redis.Client { return locks.RedisClient(p.Env(), 0) }

// plainClient returns a client whose goroutines take no turns.
func plainClient(p *sim.Program) *redis.Client {
	env := p.Env()
	r := redis.NewClient(&redis.Options{
		Addr: env.Nodes[0], Dialer: env.Dial,
		DisableIdentity: true, MaxRetries: -1, PoolSize: 32,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	env.Cleanup(func() { _ = r.Close() })
	return r
}

// set returns a function that sends SET.
func set(key string, value any) func(context.Context, *redis.Client) error {
	return func(ctx context.Context, r *redis.Client) error { return r.Set(ctx, key, value, 0).Err() }
}

// setRandom returns a function that sends SET with a value that differs in each run.
func setRandom(key string) func(context.Context, *redis.Client) error {
	return func(ctx context.Context, r *redis.Client) error {
		value := make([]byte, 24)
		for i := range value {
			value[i] = byte(rand.Uint32())
		}
		return r.Set(ctx, key, value, 0).Err()
	}
}

func increment(ctx context.Context, r *redis.Client) error { return r.Incr(ctx, "k").Err() }

// setAndGet sends a transaction of two commands.
func setAndGet(ctx context.Context, r *redis.Client) error {
	_, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, "k", 0, 0)
		p.Get(ctx, "k")
		return nil
	})
	return err
}

// If goroutines send different commands at the same moment, their order is the same in
// every run, whatever random values the commands contain. If the commands are equal, the
// order differs from run to run. If the goroutines do not take turns, the connection that
// each of them gets differs, too. In both cases the trace says so.
func TestTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const twoConnections, sameCommand = "used two connections to redis-1", "the same command"
	for _, test := range []struct {
		name  string
		cfg   sim.Config
		doubt string // a part of the doubt in the trace; "" if there is none and all runs are equal
	}{
		{"one goroutine alone", concurrentWorld(t, 0, plainClient, set("k", 1)), ""},
		{"different commands", concurrentWorld(t, 0, sharedClient, set("k", 1), set("k", 2), increment, setAndGet), ""},
		{"random values of different keys", concurrentWorld(t, 0, sharedClient, setRandom("a"), setRandom("b"), setRandom("c")), ""},
		{"random values of one key", concurrentWorld(t, 0, sharedClient, setRandom("k"), setRandom("k")), sameCommand},
		{"equal commands", concurrentWorld(t, 0, sharedClient, increment, set("k", 1), increment), sameCommand},
		{"equal commands, one a millisecond after the other", concurrentWorld(t, time.Millisecond, sharedClient, increment, increment), ""},
		{"different commands without turns", concurrentWorld(t, 0, plainClient, set("k", 1), set("k", 2)), twoConnections},
		{"different commands without turns, one a millisecond after the other", concurrentWorld(t, time.Millisecond, plainClient, set("k", 1), set("k", 2)), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			first := RunWorld(t, test.cfg)
			if doubts := strings.Join(first.Doubts, "; "); (doubts == "") != (test.doubt == "") || !strings.Contains(doubts, test.doubt) {
				t.Errorf("the doubts of the run are %q, want a text with %q, or none if that is empty", doubts, test.doubt)
			}
			if test.doubt != "" {
				return
			}
			test.cfg.Disturb = YieldRandomly
			for i := range 60 {
				runtime.GOMAXPROCS(1 << (i % 3))
				if again := RunWorld(t, test.cfg); again.Hash() != first.Hash() {
					t.Fatalf("run %d differs: %s", i+2, trace.FirstDifference(first, again))
				}
			}
		})
	}
}
