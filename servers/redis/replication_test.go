package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// replicatedWorld returns a world with a master, redis-1, and its replica, redis-2.
func replicatedWorld(lag time.Duration, clients ...sim.Client) sim.Config {
	cfg := redisWorld(clients...)
	cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-2", System: "redis", ReplicaOf: "redis-1", Lag: lag, Persistence: sim.NoPersistence})
	return cfg
}

// A change reaches the replica after the network's latency and the replica's lag.
func TestReplicaFollows(t *testing.T) {
	for _, test := range []struct {
		name  string
		lag   time.Duration
		fault []sim.Fault
		at    time.Duration // when the change reaches the replica
	}{
		{"no lag", 0, nil, arrival + Hop},
		{"lag", 3 * time.Second, nil, arrival + Hop + 3*time.Second},
		{"delayed link", 0, []sim.Fault{At(arrival, &sim.Delay{Process: "redis-1", To: "redis-2", By: time.Second})}, arrival + Hop + time.Second},
		{"partition", 0, []sim.Fault{Lasting(5*time.Second, At(arrival, &sim.Partition{Process: "redis-2", From: []string{"redis-1"}}))}, 5*time.Second + arrival + Hop},
		{"replica paused", 0, []sim.Fault{Lasting(5*time.Second, At(arrival, PauseOf("redis-2")))}, 5*time.Second + arrival},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(replicatedWorld(test.lag, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 30*time.Second).Err()
				SleepUntil(10 * time.Second)
				return err
			})), test.fault...))
			AllFaultsStruck(t, tr)
			set, copied := OnlyEvent(t, tr, trace.KindSet, "redis-1"), OnlyEvent(t, tr, trace.KindRestore, "redis-2")
			EqualTime(t, "the key is set on the master", set.At, arrival)
			EqualTime(t, "the key is copied to the replica", copied.At, test.at)
			Equal(t, "the owner of the copy", *copied.Owner, *set.Owner)
			Equal(t, "the value of the copy", copied.Value, "v")
			EqualTime(t, "the copy expires", copied.Expires, set.Expires)
		})
	}
}

// Deletions, changed expiries and all databases are replicated too.
func TestReplicaFollowsEverything(t *testing.T) {
	var seen []string
	cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		master, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		for _, command := range []string{"SET gone v", "SET short v EX 100", "RPUSH list a b", "DEL gone", "EXPIRE short 2", "SELECT 1", "SET other v"} {
			if _, err := Ask(master, command); err != nil {
				return err
			}
		}
		SleepUntil(time.Second)
		replica, err := Dial(ctx, p, 1)
		if err != nil {
			return err
		}
		for _, command := range []string{"EXISTS gone", "TTL short", "LLEN list", "SELECT 1", "GET other", "SELECT 0"} {
			reply, err := Ask(replica, command)
			if err != nil {
				return err
			}
			seen = append(seen, strings.Join(strings.Fields(reply), " "))
		}
		SleepUntil(3 * time.Second)
		reply, err := Ask(replica, "EXISTS short")
		seen = append(seen, strings.TrimSpace(reply))
		return err
	}))
	RunWorld(t, cfg)
	// EXPIRE was served a few milliseconds after the start, so a second later less than two
	// seconds and at least one are left: Redis rounds to the nearest.
	Equal(t, "the replies of the replica", strings.Join(seen, ", "), ":0, :1, :2, +OK, $1 v, +OK, :0")
}

// A replica can be read but not written until it is promoted.
func TestReplicaIsReadOnly(t *testing.T) {
	for _, promoted := range []bool{false, true} {
		var setErr, scriptErr, transactionErr error
		cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			if err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 0).Err(); err != nil {
				return err
			}
			SleepUntil(2 * time.Second)
			r := locks.RedisClient(p.Env(), 1)
			value, err := r.Get(ctx, "k").Result()
			Equal(t, "the value on the replica", value, "v")
			result, err2 := r.Eval(ctx, "return redis.call('get', KEYS[1])", []string{"k"}).Result()
			Equal(t, "the result of a script that reads on the replica", result, any("v"))
			setErr = r.SetNX(ctx, "mine", "v", 0).Err()
			scriptErr = r.Eval(ctx, "return redis.call('set', KEYS[1], 'v')", []string{"mine"}).Err()
			pipe := r.TxPipeline()
			pipe.Set(ctx, "mine", "v", 0)
			_, transactionErr = pipe.Exec(ctx)
			return errors.Join(err, err2)
		}))
		if promoted {
			cfg = WithFaults(cfg, At(time.Second, &sim.Promote{Node: "redis-2"}))
		}
		tr := RunWorld(t, cfg)
		Equal(t, "SET was refused as READONLY", setErr != nil && strings.HasPrefix(setErr.Error(), "READONLY"), !promoted)
		Equal(t, "a script that writes was refused as READONLY", scriptErr != nil && strings.HasPrefix(scriptErr.Error(), "READONLY"), !promoted)
		for what, err := range map[string]error{"SET": setErr, "a script": scriptErr, "a transaction": transactionErr} {
			if (err == nil) != promoted {
				t.Errorf("redis-2 promoted: %v: %s ended with error %v, want an error only without the promotion", promoted, what, err)
			}
		}
		for _, ev := range Events(tr, trace.KindSet, "redis-2") {
			if !promoted {
				t.Errorf("the key %s was set on the replica, want no SET", ev.Key)
			}
		}
	}
}

// WAIT answers when enough replicas have really acknowledged the client's writes, or at its
// timeout, with the number of replicas that have.
func TestWait(t *testing.T) {
	const asked = 2 * time.Second // when the client sends its SET, before WAIT
	for _, test := range []struct {
		name     string
		replicas int
		lag      time.Duration
		fault    []sim.Fault
		command  string        // the WAIT, which follows the SET on the same connection
		reply    string        // to WAIT
		after    time.Duration // from the answer to the SET, when WAIT is sent, to the answer to WAIT
	}{
		// The SET is copied while its answer is on the way. The copy is acknowledged by the
		// time when WAIT arrives, so WAIT costs only a round trip.
		{"no lag", 1, 0, nil, "WAIT 1 0", ":1\r\n", 2 * Hop},
		{"lag", 1, time.Second, nil, "WAIT 1 0", ":1\r\n", time.Second + 2*Hop},
		{"timeout shorter than the lag", 1, time.Second, nil, "WAIT 1 500", ":0\r\n", 500*time.Millisecond + 2*Hop},
		{"timeout longer than the lag", 1, time.Second, nil, "WAIT 1 5000", ":1\r\n", time.Second + 2*Hop},
		{"WAIT for no replica", 1, time.Second, nil, "WAIT 0 0", ":0\r\n", 2 * Hop},
		{"WAIT for two replicas when one exists", 1, 0, nil, "WAIT 2 500", ":1\r\n", 500*time.Millisecond + 2*Hop},
		{"WAIT for two replicas of two", 2, time.Second, nil, "WAIT 2 5000", ":2\r\n", time.Second + 2*Hop},
		{"WAIT for one replica of two", 2, time.Second, []sim.Fault{At(time.Second, &sim.Delay{Process: "redis-1", To: "redis-3", By: time.Second})}, "WAIT 1 0", ":1\r\n", time.Second + 2*Hop},
		{"master without replicas", 0, 0, nil, "WAIT 1 500", ":0\r\n", 500*time.Millisecond + 2*Hop},
		{"replica cut off", 1, 0, []sim.Fault{At(time.Second, &sim.Partition{Process: "redis-2", From: []string{"redis-1"}})}, "WAIT 1 500", ":0\r\n", 500*time.Millisecond + 2*Hop},
		// The replica has the data, but its acknowledgement does not reach the master.
		{"only acknowledgements of the replica cut off", 1, 0, []sim.Fault{At(time.Second, &sim.Partition{Process: "redis-2", From: []string{"redis-1"}, Direction: sim.To})}, "WAIT 1 500", ":0\r\n", 500*time.Millisecond + 2*Hop},
		{"replica dead", 1, 0, []sim.Fault{At(time.Second, CrashOf("redis-2", trace.PowerLoss))}, "WAIT 1 500", ":0\r\n", 500*time.Millisecond + 2*Hop},
		{"replica paused", 1, 0, []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("redis-2")))}, "WAIT 1 0", ":1\r\n", 2 * time.Second},
		{"WAIT for a number that is no integer", 1, 0, nil, "WAIT one 0", "-ERR value is not an integer or out of range\r\n", 2 * Hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reply string
			var after time.Duration
			cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				SleepUntil(asked)
				if _, err := Ask(conn, "SET k v"); err != nil {
					return err
				}
				began := Now()
				reply, err = Ask(conn, test.command)
				after = Now() - began
				return err
			}))
			for i := range test.replicas {
				cfg.Nodes = append(cfg.Nodes, sim.Node{System: "redis", Name: []string{"redis-2", "redis-3"}[i], ReplicaOf: "redis-1", Lag: test.lag})
			}
			tr := RunWorld(t, WithFaults(cfg, test.fault...))
			AllFaultsStruck(t, tr)
			Equal(t, "the reply to WAIT", reply, test.reply)
			Equal(t, "the time until the reply to WAIT", after.Round(time.Microsecond), test.after)
			if test.name != "no lag" && test.name != "lag" || !strings.HasPrefix(reply, ":1") {
				return
			}
			copied, done := OnlyEvent(t, tr, trace.KindRestore, "redis-2"), OnlyEvent(t, tr, trace.KindDone, "client-1")
			if copied.Seq > done.Seq {
				t.Error("WAIT was answered before the replica had the data")
			}
		})
	}
}

// A promoted replica takes over the address of its master. New connections reach the
// promoted replica; open connections stay with the old master.
func TestPromotion(t *testing.T) {
	for _, promoted := range []bool{false, true} {
		var overOldConn, overNewConn, fromReplica string
		cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			_, err1 := Ask(conn, "SET k before")
			SleepUntil(2 * time.Second)
			_, err2 := Ask(conn, "SET k after")
			overOldConn, err = Ask(conn, "GET k")
			newConn, err3 := Dial(ctx, p, 0)
			if err := errors.Join(err, err1, err2, err3); err != nil {
				return err
			}
			SleepUntil(3 * time.Second) // by now a change would have been copied
			overNewConn, err = Ask(newConn, "GET k")
			// The promoted replica can also be reached by its own address.
			direct, err2 := Dial(ctx, p, 1)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			fromReplica, err = Ask(direct, "GET k")
			return err
		}))
		want := "$5\r\nafter\r\n"
		if promoted {
			cfg = WithFaults(cfg, At(time.Second, &sim.Promote{Node: "redis-2"}))
			want = "$6\r\nbefore\r\n"
		}
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, "GET over the connection that was opened before the promotion", overOldConn, "$5\r\nafter\r\n")
		Equal(t, "GET over a connection that was opened after the promotion", overNewConn, want)
		Equal(t, "GET at the replica's own address", fromReplica, want)
		if promoted {
			ev := OnlyEvent(t, tr, trace.KindPromote, "redis-2")
			EqualTime(t, "the promotion", ev.At, time.Second)
			Equal(t, "the master that redis-2 replaced", ev.Peer, "redis-1")
			Equal(t, "changes copied to redis-2", len(Events(tr, trace.KindRestore, "redis-2")), 1)
		}
	}
}

// A failover can lose a lock: the master acknowledges a key and dies before its replica has
// the key. A client that sends WAIT can notice that.
func TestFailoverLosesWhatWasNotCopied(t *testing.T) {
	for _, test := range []struct {
		name    string
		lag     time.Duration
		faults  []sim.Fault
		granted bool // whether client-2 was granted the lock, although client-1's key would have lasted for 30 s
	}{
		{"no fault", time.Second, nil, false},
		{"failover with a lagging replica", time.Second, []sim.Fault{
			When("client-1 acquired", CrashOf("redis-1", trace.PowerLoss)),
			When("redis-1 crashed", &sim.Promote{Node: "redis-2"}),
		}, true},
		{"failover with a replica that has the key", 0, []sim.Fault{
			When("5ms after client-1 acquired", CrashOf("redis-1", trace.PowerLoss)),
			When("redis-1 crashed", &sim.Promote{Node: "redis-2"}),
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var granted1, granted2 bool // whether client-1 and client-2 were granted the lock
			acquire := func(ctx context.Context, p *sim.Program, value string) (ok bool, err error) {
				r := libraryClient(p)
				err = p.Step(trace.Acquire, func() error {
					ok, err = r.SetNX(ctx, "lock", value, 30*time.Second).Result()
					return err
				})
				return ok, errors.Join(err, r.Close())
			}
			tr := RunWorld(t, WithFaults(replicatedWorld(test.lag,
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) (err error) {
					granted1, err = acquire(ctx, p, "one")
					return err
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) (err error) {
					SleepUntil(5 * time.Second)
					granted2, err = acquire(ctx, p, "two")
					return err
				}),
			), test.faults...))
			AllFaultsStruck(t, tr)
			Equal(t, "client-1 was granted the lock", granted1, true)
			Equal(t, "client-2 was granted the lock", granted2, test.granted)
		})
	}
}

// A master that has lost its data in a restart also empties its replica: when the replica
// connects again, it gets all the data of the master, which is none.
func TestEmptyMasterEmptiesItsReplica(t *testing.T) {
	for _, test := range []struct {
		persistence sim.Persistence
		kept        bool // whether the master and its replica still have the key at the end
	}{{sim.NoPersistence, false}, {server.Always, true}} {
		t.Run(string(test.persistence), func(t *testing.T) {
			var during, after string
			cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 0).Err()
				replica, err2 := Dial(ctx, p, 1)
				if err := errors.Join(err, err2); err != nil {
					return err
				}
				SleepUntil(1500 * time.Millisecond) // the master is down
				if during, err = Ask(replica, "EXISTS k"); err != nil {
					return err
				}
				SleepUntil(8 * time.Second)
				after, err = Ask(replica, "EXISTS k")
				return err
			}))
			cfg.Nodes[0].Persistence = test.persistence
			tr := RunWorld(t, WithFaults(cfg, Lasting(time.Second, At(time.Second, CrashOf("redis-1", trace.Kill)))))
			Equal(t, "EXISTS on the replica while the master is down", during, ":1\r\n")
			Equal(t, "EXISTS on the replica after the master's restart", after, map[bool]string{false: ":0\r\n", true: ":1\r\n"}[test.kept])
			if test.kept {
				NoEvents(t, tr, trace.KindDelete, "redis-2")
				return
			}
			gone := OnlyEvent(t, tr, trace.KindDelete, "redis-2")
			Equal(t, "the key that the replica deleted", gone.Key, "k")
			if gone.At < 2*time.Second || gone.At > 4*time.Second {
				t.Errorf("the replica deleted the key at %v, want between 2s and 4s", gone.At)
			}
		})
	}
}

// A replica that was restarted or cut off gets the changes that it has missed.
func TestReplicaCatchesUp(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault sim.Fault
	}{
		{"the replica is killed", Lasting(3*time.Second, At(time.Second, CrashOf("redis-2", trace.Kill)))},
		{"the replica loses its power", Lasting(3*time.Second, At(time.Second, CrashOf("redis-2", trace.PowerLoss)))},
		{"the replica is cut off from its master", Lasting(3*time.Second, At(time.Second, &sim.Partition{Process: "redis-1", From: []string{"redis-2"}}))},
		{"the connection is reset", At(time.Second, &sim.Reset{Process: "redis-1", From: "redis-2"})},
		{"the master is killed", Lasting(500*time.Millisecond, At(time.Second, CrashOf("redis-1", trace.Kill)))},
		{"the master loses its power", Lasting(500*time.Millisecond, At(time.Second, CrashOf("redis-1", trace.PowerLoss)))},
		{"the replica is suspended", Lasting(3*time.Second, At(time.Second, SuspensionOf("redis-2")))},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got string
			cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				for i, moment := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 6 * time.Second} {
					SleepUntil(moment)
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					if _, err := Ask(conn, "RPUSH list "+[]string{"a", "b", "c"}[i]); err != nil {
						return err
					}
				}
				SleepUntil(10 * time.Second)
				values, err := locks.RedisClient(p.Env(), 1).LRange(ctx, "list", 0, -1).Result()
				got = strings.Join(values, " ")
				return err
			}))
			cfg.Nodes[0].Persistence = server.Always
			tr := RunWorld(t, WithFaults(cfg, test.fault))
			AllFaultsStruck(t, tr)
			Equal(t, "the list on the replica", got, "a b c")
		})
	}
}

// After a crash of the master, its replica connects to it only once, whichever of the two
// has noticed the broken connection first.
func TestReplicaConnectsOnce(t *testing.T) {
	for _, down := range []time.Duration{500 * time.Microsecond, 500 * time.Millisecond, 5 * time.Second} {
		cfg := replicatedWorld(0, Client(t, "client-1", func(_ context.Context, p *sim.Program) error {
			SleepUntil(20 * time.Second)
			return nil
		}))
		tr := RunWorld(t, WithFaults(cfg, Lasting(down, At(time.Second, CrashOf("redis-1", trace.Kill)))))
		connects := 0
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindConnect && ev.Process == "redis-2" {
				connects++
			}
		}
		if connects != 2 {
			t.Errorf("master down for %v: the replica connected %d times, want 2: at the start and after the crash", down, connects)
		}
	}
}

// After a promotion, the other replicas follow the new master and get its data, even if
// they were paused or down at the time of the promotion.
func TestOtherReplicasFollowThePromotedReplica(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile []sim.Fault   // what happens to redis-2 while redis-3 is promoted
		at        time.Duration // when redis-2 begins to connect to redis-3, the new master
	}{
		{"redis-2 is running", nil, 2 * time.Second},
		{"redis-2 is paused", []sim.Fault{Lasting(3*time.Second, At(time.Second, PauseOf("redis-2")))}, 4 * time.Second},
		{"redis-2 is down", []sim.Fault{Lasting(3*time.Second, At(time.Second, CrashOf("redis-2", trace.Kill)))}, 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var confirmed, old, copied string
			cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				master, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				_, err1 := Ask(master, "SET old v")
				SleepUntil(6 * time.Second)
				promoted, err2 := Dial(ctx, p, 0)
				if err := errors.Join(err1, err2); err != nil {
					return err
				}
				_, err1 = Ask(promoted, "SET k v")
				confirmed, err2 = Ask(promoted, "WAIT 1 1000")
				replica, err3 := Dial(ctx, p, 1)
				if err := errors.Join(err1, err2, err3); err != nil {
					return err
				}
				old, err1 = Ask(replica, "EXISTS old")
				copied, err2 = Ask(replica, "EXISTS k")
				return errors.Join(err1, err2)
			}))
			// redis-3 lags too far behind to have the first key.
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-3", System: "redis", ReplicaOf: "redis-1", Lag: 5 * time.Second, Persistence: sim.NoPersistence})
			tr := RunWorld(t, WithFaults(cfg, append(test.meanwhile,
				At(1500*time.Millisecond, CrashOf("redis-1", trace.Kill)),
				At(2*time.Second, &sim.Promote{Node: "redis-3"}),
			)...))
			AllFaultsStruck(t, tr)
			Equal(t, "the reply to WAIT 1 of the new master", confirmed, ":1\r\n")
			Equal(t, "the old master's key on the other replica", old, ":0\r\n")
			Equal(t, "the new master's key on the other replica", copied, ":1\r\n")
			Equal(t, "changes copied to redis-3", len(Events(tr, trace.KindRestore, "redis-3")), 0)
			if test.name != "redis-2 is down" { // a crash loses all its data
				forgot := OnlyEvent(t, tr, trace.KindDelete, "redis-2")
				EqualTime(t, "redis-2 deletes the old master's key", forgot.At, test.at+3*Hop)
			}
		})
	}
}

// A replica is connecting to the old master when another replica is promoted. It must not
// take the data of the old master.
func TestPromotionWhileAReplicaConnects(t *testing.T) {
	for _, promoted := range []bool{false, true} {
		cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 0).Err()
			SleepUntil(4 * time.Second)
			return err
		}))
		// redis-3 lags too far behind to have the key.
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-3", System: "redis", ReplicaOf: "redis-1", Lag: 5 * time.Second, Persistence: sim.NoPersistence})
		cfg = WithFaults(cfg, Lasting(time.Second, At(time.Second, CrashOf("redis-2", trace.Kill))))
		want := 2 // the key is copied when it is set, and when redis-2 has restarted
		if promoted {
			cfg = WithFaults(cfg, At(2*time.Second+Hop/2, &sim.Promote{Node: "redis-3"}))
			want = 1
		}
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, fmt.Sprintf("redis-3 promoted: %t: copies of the key on redis-2", promoted), len(Events(tr, trace.KindRestore, "redis-2")), want)
	}
}
