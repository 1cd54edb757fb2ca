package redis_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// changingCommands are commands that may change keys, each in its own way. K, L and M are
// placeholders for keys.
var changingCommands = []string{
	"SET K v1", "SET K v2 PX 1500", "SET K v3 NX", "SET K v4 KEEPTTL", "SETEX K 2 v5", "GETSET K v6", "GETDEL K", "GETEX K PX 2500",
	"APPEND K x", "INCR M", "MSET K v7 L v8", "MSETNX K v9 L v9", "SETRANGE K 1 y", "BITOP OR L K K",
	"DEL K L", "UNLINK K", "RENAME K L", "RENAMENX K L", "COPY K L", "COPY K L DB 1 REPLACE", "MOVE K 1", "RESTORE K 0 x",
	"PERSIST K", "PEXPIRE K 1200", "EXPIRE K 2", "PEXPIRE K 0", "EXPIREAT K 1",
	"LPUSH K e1 e2", "RPOP K", "RPOPLPUSH K L", "LMOVE K L LEFT RIGHT", "BLPOP K L 0.5", "LTRIM K 1 0",
	"SADD K m1 m2", "SPOP K", "SMOVE K L m1", "SUNIONSTORE M K L", "SDIFFSTORE M K L",
	"ZADD K 1 m1", "ZPOPMIN K", "ZUNIONSTORE M 2 K L", "ZREMRANGEBYRANK K 0 -1", "GEOADD K 13 38 p",
	"HSET K f1 w1 f2 w2", "HDEL K f1", "HEXPIRE K 2 FIELDS 1 f1", "HSETEX K EX 1 FIELDS 1 f3 w3",
	"XADD K * f w", "XTRIM K MAXLEN 0", "PFADD K e1", "PFMERGE L K",
	"FLUSHDB", "FLUSHALL", "SWAPDB 0 1", "SELECT 0", "SELECT 1", "MULTI", "EXEC", "DISCARD",
	"EVAL return(redis.call('set',KEYS[1],ARGV[1],'px',1300)) 1 K v10",
	"EVAL redis.call('set','k'..'1',1)redis.call('del','k'..'2') 0",
	"EVAL redis.call('select',1)return(redis.call('set','k3','v11')) 0", "EVAL return(redis.call('flushall')) 0",
}

// The trace shows every change of a key, whether a command, a script, a transaction or the
// clock has caused it. After each command, the keys according to the trace are those that
// the server has. The keys of a database are compared once a client has selected it.
func TestTraceShowsEveryChange(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			// A sight is what a client sees of the keys in a database after a command.
			type sight struct {
				after string        // the command
				at    time.Duration // when the client saw the keys
				db    int
				keys  map[string]string // the value of each key; "" if it is not a string
			}
			var sights []sight
			cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn := locks.RedisClient(p.Env(), 0).Conn()
				defer conn.Close()
				ask := func(words ...any) (any, error) { return conn.Do(ctx, words...).Result() }
				queues, db := false, 0
				ask("SELECT", 1)
				ask("SELECT", 0) // from now on the trace has the keys of both databases
				for i := range 150 {
					SleepUntil(time.Duration(i+1) * 300 * time.Millisecond)
					command := changingCommands[random.IntN(len(changingCommands))]
					var words []any
					for _, word := range strings.Fields(command) {
						if slices.Contains([]string{"K", "L", "M"}, word) {
							word = fmt.Sprintf("k%d", 1+random.IntN(4))
						}
						words = append(words, word)
					}
					_, err := ask(words...)
					switch {
					case words[0] == "MULTI":
						queues = true
					case words[0] == "EXEC", words[0] == "DISCARD":
						queues, db = false, -1
					case words[0] == "SELECT" && !queues && err == nil:
						db = int(words[1].(string)[0] - '0')
					}
					if queues {
						continue
					}
					if db < 0 { // the transaction may have selected a database
						db = random.IntN(2)
						ask("SELECT", db)
					}
					names, err := conn.Keys(ctx, "*").Result()
					if err != nil {
						return err
					}
					s := sight{fmt.Sprint(words...), Now(), db, map[string]string{}}
					for _, name := range names {
						s.keys[name], _ = conn.Get(ctx, name).Result()
					}
					sights = append(sights, s)
				}
				return nil
			}))
			tr := RunWorld(t, cfg)
			known, events := map[string]string{}, tr.Events
			for _, s := range sights {
				for ; len(events) > 0 && events[0].At <= s.at; events = events[1:] {
					switch ev := events[0]; ev.Kind {
					case trace.KindSet, trace.KindTouch:
						known[ev.Key] = ev.Value
					case trace.KindDelete, trace.KindExpire:
						delete(known, ev.Key)
					}
				}
				here := map[string]string{}
				for key, value := range known {
					name, other := strings.CutSuffix(key, " (database 1)")
					if other == (s.db == 1) {
						if strings.HasPrefix(value, "value-") || s.keys[name] == "" {
							value = s.keys[name] // the trace shows this value in another form
						}
						here[name] = value
					}
				}
				if !maps.Equal(here, s.keys) {
					t.Fatalf("after %s at %v, the keys of database %d are %v by the trace, want %v as on the server", s.after, s.at, s.db, here, s.keys)
				}
			}
		})
	}
}
