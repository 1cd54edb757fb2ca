package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A blocking command is answered when another client provides what it waits for, or at its
// timeout.
func TestBlockingCommands(t *testing.T) {
	// client-1 sends its blocking command at asked, and client-2 provides an element at given.
	const asked, given = time.Second, 3 * time.Second
	block := map[string]func(context.Context, *redis.Client, time.Duration) error{
		"BLPOP": func(ctx context.Context, r *redis.Client, d time.Duration) error { return r.BLPop(ctx, d, "k").Err() },
		"BRPOP": func(ctx context.Context, r *redis.Client, d time.Duration) error { return r.BRPop(ctx, d, "k").Err() },
		"BLMOVE": func(ctx context.Context, r *redis.Client, d time.Duration) error {
			return r.BLMove(ctx, "k", "to", "LEFT", "RIGHT", d).Err()
		},
		"XREAD": func(ctx context.Context, r *redis.Client, d time.Duration) error {
			return r.XRead(ctx, &redis.XReadArgs{Streams: []string{"stream", "0"}, Block: d}).Err()
		},
	}
	for name, wait := range block {
		for _, give := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " is answered", false: " times out"}[give], func(t *testing.T) {
				var failed error
				var answered time.Duration
				tr := RunWorld(t, redisWorld(
					Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
						r := locks.RedisClient(p.Env(), 0)
						err := r.Ping(ctx).Err()
						SleepUntil(asked)
						failed = wait(ctx, r, 4*time.Second)
						answered = Now()
						// The connection can be used again.
						return errors.Join(err, r.Ping(ctx).Err())
					}),
					Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
						r := locks.RedisClient(p.Env(), 0)
						err := r.Ping(ctx).Err()
						SleepUntil(given)
						if !give {
							return err
						}
						return errors.Join(err, r.RPush(ctx, "k", "x").Err(), r.XAdd(ctx, &redis.XAddArgs{Stream: "stream", Values: []string{"a", "b"}}).Err())
					}),
				))
				want, until := error(nil), given+2*Hop
				if name == "XREAD" {
					until += 2 * Hop // client-2 sends XADD after the answer to RPUSH
				}
				if !give {
					want, until = redis.Nil, asked+4*time.Second+2*Hop
				}
				if !errors.Is(failed, want) || want == nil && failed != nil {
					t.Errorf("%s ended with error %v, want %v", name, failed, want)
				}
				EqualTime(t, "the answer to "+name, answered, until)
				if give && name == "BLPOP" {
					// The trace says that the pop belongs to client-1, which has waited.
					var last trace.Event
					for _, ev := range tr.Events {
						if ev.Process == "redis-1" && ev.Key == "k" && ev.Kind == trace.KindDelete {
							last = ev
						}
					}
					if last.By == nil {
						t.Fatal("no client popped the element")
					}
					Equal(t, "the client that popped the element", last.By.Client, "client-1")
				}
			})
		}
	}
}

// Clients that wait for the same list are served in the order in which they began to wait.
// They are served after the command that fills the list has ended.
func TestBlockedClientsAreServedInOrder(t *testing.T) {
	var popped []string
	pops := func(name string, from time.Duration) sim.Client {
		return Client(t, name, func(ctx context.Context, p *sim.Program) error {
			SleepUntil(from)
			got, err := locks.RedisClient(p.Env(), 0).BLPop(ctx, 0, "k").Result()
			popped = append(popped, name+" "+strings.Join(got, " "))
			return err
		})
	}
	cfg := redisWorld(
		pops("client-1", 2*time.Second),
		pops("client-2", time.Second),
		Client(t, "client-3", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(3 * time.Second)
			return locks.RedisClient(p.Env(), 0).RPush(ctx, "k", "x", "y", "z").Err()
		}),
	)
	// The clients' goroutines are scheduled in a random order, which must not matter.
	cfg.Disturb = YieldRandomly
	tr := RunWorld(t, cfg)
	Equal(t, "the elements that the clients popped", strings.Join(popped, ", "), "client-2 k x, client-1 k y")
	var sets []string
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindSet {
			sets = append(sets, ev.By.Client+" "+ev.Value)
		}
	}
	Equal(t, "the values of the list", strings.Join(sets, ", "), "client-3 list(x y z), client-2 list(y z), client-1 list(z)")
}

// A blocking command that can be answered immediately may provide what another client waits
// for.
func TestBlockingCommandThatDoesNotWaitServesABlockedClient(t *testing.T) {
	var served time.Duration
	RunWorld(t, redisWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			err := locks.RedisClient(p.Env(), 0).BLPop(ctx, 0, "to").Err()
			served = Now()
			return err
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			r := locks.RedisClient(p.Env(), 0)
			err := r.RPush(ctx, "from", "x").Err()
			SleepUntil(time.Second)
			return errors.Join(err, r.BLMove(ctx, "from", "to", "LEFT", "RIGHT", 0).Err())
		}),
	))
	EqualTime(t, "client-1 was served", served, time.Second+2*Hop)
}

// The keys that a client watches stay watched while the client waits in a blocking command.
func TestWatchedKeysStayWatchedWhileBlocked(t *testing.T) {
	var outcome error
	RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		r := locks.RedisClient(p.Env(), 0)
		err := r.Watch(ctx, func(tx *redis.Tx) error {
			if err := errors.Join(r.Set(ctx, "k", "meddled", 0).Err(), r.RPush(ctx, "list", "x").Err(), tx.BLPop(ctx, 0, "list").Err()); err != nil {
				return err
			}
			_, outcome = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "k", "own", 0).Err() })
			return nil
		}, "k")
		return err
	})))
	Equal(t, "the error of the transaction", outcome, error(redis.TxFailedErr))
}

// Pub/sub: a subscriber receives what is published while it is subscribed.
func TestPubSub(t *testing.T) {
	var heard []string
	var received int64
	RunWorld(t, redisWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			sub := libraryClient(p).Subscribe(ctx, "news")
			for message := range sub.Channel() {
				heard = append(heard, message.Payload)
				if message.Payload == "last" {
					break
				}
			}
			return sub.Close()
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			r := locks.RedisClient(p.Env(), 0)
			SleepUntil(time.Second)
			var err error
			if received, err = r.Publish(ctx, "news", "first").Result(); err != nil {
				return err
			}
			return errors.Join(r.Publish(ctx, "other", "unheard").Err(), r.Publish(ctx, "news", "last").Err())
		}),
	))
	Equal(t, "the messages that client-1 received", strings.Join(heard, " "), "first last")
	Equal(t, "the subscribers that received the first message", received, 1)
}

// When a world ends, a subscriber that has received nothing ends too.
func TestSubscriberEndsWithItsWorld(t *testing.T) {
	cfg := redisWorld(sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
		_, err := libraryClient(p).Subscribe(ctx, "news").ReceiveMessage(ctx)
		return err
	}})
	tr := RunWorld(t, cfg)
	if FirstEvent(t, tr, trace.KindHorizon, "").At < cfg.Horizon {
		t.Error("the run ended before its horizon")
	}
}

// A transaction is executed as a whole. With WATCH, it is not executed if a watched key has
// changed before.
func TestTransactions(t *testing.T) {
	for _, meddles := range []bool{false, true} { // whether client-2 changes the watched key
		var outcome error
		var value string
		tr := RunWorld(t, redisWorld(
			Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				r := locks.RedisClient(p.Env(), 0)
				err := r.Set(ctx, "k", "1", 0).Err()
				outcome = r.Watch(ctx, func(tx *redis.Tx) error {
					n, err := tx.Get(ctx, "k").Int()
					if err != nil {
						return err
					}
					SleepUntil(2 * time.Second)
					_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
						pipe.Set(ctx, "k", n+1, 0)
						pipe.Set(ctx, "done", "yes", 0)
						return nil
					})
					return err
				}, "k")
				var err2 error
				value, err2 = r.Get(ctx, "k").Result()
				return errors.Join(err, err2)
			}),
			Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(time.Second)
				if !meddles {
					return nil
				}
				return locks.RedisClient(p.Env(), 0).Set(ctx, "k", "7", 0).Err()
			}),
		))
		if meddles {
			Equal(t, "the error of the transaction", outcome, error(redis.TxFailedErr))
			Equal(t, "the value of k", value, "7")
			continue
		}
		Equal(t, "the error of the transaction", outcome, nil)
		Equal(t, "the value of k", value, "2")
		sets := Events(tr, trace.KindSet, "redis-1")
		Equal(t, "the SETs", len(sets), 3)
		Equal(t, "the time of the transaction's first SET, compared with its second", sets[1].At, sets[2].At)
	}
}

// Each connection selects its own database.
func TestDatabases(t *testing.T) {
	var zero, one string
	RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		a, err := Dial(ctx, p, 0)
		b, err2 := Dial(ctx, p, 0)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for _, command := range []string{"SELECT 1", "SET k one EX 1"} {
			if _, err := Ask(a, command); err != nil {
				return err
			}
		}
		if zero, err = Ask(b, "GET k"); err != nil {
			return err
		}
		if one, err = Ask(a, "GET k"); err != nil {
			return err
		}
		SleepUntil(2 * time.Second)
		gone, err := Ask(a, "EXISTS k")
		Equal(t, "EXISTS k in database 1 after the end of its TTL", gone, ":0\r\n")
		return err
	})))
	Equal(t, "GET k in database 0", zero, "$-1\r\n")
	Equal(t, "GET k in database 1", one, "$3\r\none\r\n")
}

// A pipeline's commands are separate messages, which the node serves in order. The client
// sends them on the connection that it already has: RedisClient turns off the pool for
// pipelines that newer versions of go-redis have.
func TestPipelines(t *testing.T) {
	tr := RunWorld(t, redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		r := locks.RedisClient(p.Env(), 0)
		if err := r.Del(ctx, "a").Err(); err != nil {
			return err
		}
		pipe := r.Pipeline()
		for _, key := range []string{"a", "b", "c"} {
			pipe.Set(ctx, key, "v", 0)
		}
		_, err := pipe.Exec(ctx)
		return err
	})))
	var keys []string
	for _, ev := range Events(tr, trace.KindSet, "redis-1") {
		keys = append(keys, ev.Key)
	}
	Equal(t, "the keys in the order of their SETs", strings.Join(keys, " "), "a b c")
	Equal(t, "the messages that client-1 sent", len(Events(tr, trace.KindSend, "client-1")), 5) // with HELLO and DEL
	Equal(t, "the connections of client-1", len(Events(tr, trace.KindConnect, "client-1")), 1)
}

// A client that has closed its connection no longer waits: an element that is pushed
// afterwards stays in the list.
func TestBlockedClientHangsUp(t *testing.T) {
	var left int64
	RunWorld(t, redisWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			// The timeout is measured in the world's true time, not on the client's clock.
			err := locks.RedisClient(p.Env(), 0).BLPop(WithTrueTimeout(ctx, time.Second), 0, "k").Err()
			if err == nil {
				t.Error("BLPOP was answered, want a timeout")
			}
			return nil
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(2 * time.Second)
			r := locks.RedisClient(p.Env(), 0)
			err := r.RPush(ctx, "k", "x").Err()
			SleepUntil(3 * time.Second)
			var err2 error
			left, err2 = r.LLen(ctx, "k").Result()
			return errors.Join(err, err2)
		}),
	))
	Equal(t, "the elements left in the list", left, 1)
}
