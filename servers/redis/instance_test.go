package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// An instance of miniredis serves nodes of several worlds, one after the other. A node is
// not affected by what was done in an earlier world.
func TestWorldsLeaveNothingBehind(t *testing.T) {
	// probe runs a world and returns the answers of its node to many commands.
	probe := func() string {
		var answers strings.Builder
		cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			for _, command := range []string{
				"INFO", "DBSIZE", "GET k", "TTL k", "OBJECT IDLETIME k", "SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
				"EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "EVAL return{math.random(1000),#KEYS,#ARGV} 0", "TIME",
				"SELECT 3", "DBSIZE", "KEYS *", "SET k v", "EXPIRE k 10", "TTL k", "PUBLISH c m", "PUBSUB CHANNELS", "PUBSUB NUMPAT",
				"SADD s a b c d e f", "SRANDMEMBER s", "RANDOMKEY", "WATCH k", "MULTI", "GET k", "EXEC", "LPUSH list x", "LLEN list",
			} {
				got, err := sendCommand(c, strings.Fields(command))
				if err != nil {
					return err
				}
				answers.WriteString(command + " => " + got)
			}
			return nil
		}))
		RunWorld(t, cfg)
		return answers.String()
	}
	want := probe()
	for _, word := range []string{"total_commands_processed:1", "GET k => $-1", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0 => -NOSCRIPT", "LLEN list => :1"} {
		if !strings.Contains(want, word) {
			t.Errorf("the probe returns no %q in\n%s", word, want)
		}
	}
	// send returns a function that sends commands with one go-redis client.
	send := func(commands ...string) func(context.Context, *redis.Client) error {
		return func(ctx context.Context, r *redis.Client) error {
			for _, command := range commands {
				var words []any
				for _, word := range strings.Fields(command) {
					words = append(words, word)
				}
				if err := r.Do(ctx, words...).Err(); err != nil && err != redis.Nil {
					return err
				}
			}
			return nil
		}
	}
	for name, do := range map[string]func(context.Context, *redis.Client) error{
		"keys of every type":                   send("SET k v PX 100000", "HSET h f v", "SADD s x", "LPUSH list a", "ZADD z 1 m", "XADD stream * a b", "PFADD hll a"),
		"several databases":                    send("SELECT 3", "SET k v", "LPUSH list a", "SWAPDB 0 3"),
		"cached scripts":                       send("EVAL return{1} 0", "EVAL return(1) 0", "EVAL return{math.random(1000)} 1 key", "SCRIPT LOAD return(2)", "EVAL return(1) 0", "EVAL return 0"),
		"random choices":                       send("SADD s a b c d e f", "SRANDMEMBER s", "RANDOMKEY"),
		"a watched key in an open transaction": send("WATCH k", "SET k v", "MULTI", "SET k w"),
		"a client name":                        send("CLIENT SETNAME me"),
		"a hundred commands":                   send(strings.Split(strings.Repeat("INCR k,", 100), ",")[:100]...),
		"an open subscription": func(ctx context.Context, r *redis.Client) error {
			defer time.Sleep(time.Second)
			return r.Subscribe(ctx, "c").Ping(ctx)
		},
		"a blocked client": func(ctx context.Context, r *redis.Client) error {
			go r.BLPop(ctx, 0, "list")
			time.Sleep(time.Second)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, crashed := range []string{"", "redis-1", "client-1"} {
				cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					if err := do(ctx, locks.RedisClient(p.Env(), 0)); err != nil && crashed == "" {
						t.Error(err)
					}
					return nil
				}))
				if crashed != "" {
					cfg = WithFaults(cfg, At(500*time.Millisecond, CrashOf(crashed, trace.PowerLoss)))
				}
				RunWorld(t, cfg)
				RunWorld(t, cfg) // again, on an instance that this world has used before
				if got := probe(); got != want {
					t.Errorf("after this world (crashed: %q) a node of another world answers\n%s\nwant\n%s", crashed, got, want)
				}
			}
		})
	}
}
