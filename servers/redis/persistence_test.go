package redis_test

import (
	"context"
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

// A key is set at 300 ms. Its node crashes at 800 ms, before the first sync of everysec, or
// at 1.2 s, after it. The test checks whether the key survives.
func TestKeysThatSurviveACrash(t *testing.T) {
	const early, late = 800 * time.Millisecond, 1200 * time.Millisecond
	type crash struct {
		how trace.Crash
		at  time.Duration
	}
	survives := map[sim.Persistence]map[crash]bool{
		sim.NoPersistence: {},
		// No snapshot was due yet, but a clean shutdown makes one.
		server.Snapshots: {{trace.Shutdown, early}: true, {trace.Shutdown, late}: true},
		// The operating system keeps what a killed process had written.
		server.Everysec: {{trace.Kill, early}: true, {trace.Kill, late}: true, {trace.Shutdown, early}: true, {trace.Shutdown, late}: true, {trace.PowerLoss, late}: true},
		server.Always:   {{trace.Kill, early}: true, {trace.Kill, late}: true, {trace.Shutdown, early}: true, {trace.Shutdown, late}: true, {trace.PowerLoss, early}: true, {trace.PowerLoss, late}: true},
	}
	for _, policy := range persistences() {
		for _, how := range []trace.Crash{trace.Kill, trace.PowerLoss, trace.Shutdown} {
			for _, moment := range []time.Duration{early, late} {
				t.Run(fmt.Sprintf("%s/%s/%v", policy, how, moment), func(t *testing.T) {
					var left string
					cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
						conn, err := Dial(ctx, p, 0)
						if err != nil {
							return err
						}
						SleepUntil(300 * time.Millisecond)
						if _, err := Ask(conn, "SET k v"); err != nil {
							return err
						}
						SleepUntil(3 * time.Second)
						if conn, err = Dial(ctx, p, 0); err != nil {
							return err
						}
						left, err = Ask(conn, "GET k")
						return err
					}))
					cfg.Nodes[0].Persistence = policy
					tr := RunWorld(t, WithFaults(cfg, Lasting(time.Second, At(moment, CrashOf("redis-1", how)))))
					AllFaultsStruck(t, tr)
					want, forgotten := "$-1\r\n", 1
					if survives[policy][crash{how, moment}] {
						want, forgotten = "$1\r\nv\r\n", 0
					}
					Equal(t, "the reply to GET after the crash", left, want)
					Equal(t, "forgotten keys", len(Events(tr, trace.KindForget, "redis-1")), forgotten)
					NoEvents(t, tr, trace.KindRestore, "redis-1")
					if forgotten == 1 {
						ev := OnlyEvent(t, tr, trace.KindForget, "redis-1")
						EqualTime(t, "the key was forgotten", ev.At, moment+time.Second)
						Equal(t, "the owner of the forgotten key", ev.Owner.Client, "client-1")
					}
				})
			}
		}
		t.Run(string(policy)+"/no crash", func(t *testing.T) {
			cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				if err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 0).Err(); err != nil {
					return err
				}
				SleepUntil(3 * time.Second)
				return locks.RedisClient(p.Env(), 0).Get(ctx, "k").Err()
			}))
			cfg.Nodes[0].Persistence = policy
			NoEvents(t, RunWorld(t, cfg), trace.KindForget, "redis-1")
		})
	}
}

// The expiry of a key that survives a crash is absolute, so the key can expire while the
// node is down.
func TestTimePassesWhileANodeIsDown(t *testing.T) {
	for _, test := range []struct {
		name    string
		faults  []sim.Fault
		expires time.Duration // when the trace shows that the key expired
	}{
		{"no crash", nil, arrival + 10*time.Second},
		{"down for two seconds", []sim.Fault{Lasting(2*time.Second, At(3*time.Second, CrashOf("redis-1", trace.Kill)))}, arrival + 10*time.Second},
		{"down for ten seconds", []sim.Fault{Lasting(10*time.Second, At(3*time.Second, CrashOf("redis-1", trace.Kill)))}, 13 * time.Second},
		{"down while its clock is set back", []sim.Fault{
			Lasting(2*time.Second, At(3*time.Second, CrashOf("redis-1", trace.Kill))),
			At(4*time.Second, &sim.Jump{Process: "redis-1", By: -4 * time.Second}),
		}, arrival + 14*time.Second},
		{"down while its clock is set forward", []sim.Fault{
			Lasting(2*time.Second, At(3*time.Second, CrashOf("redis-1", trace.Kill))),
			At(4*time.Second, &sim.Jump{Process: "redis-1", By: 4 * time.Second}),
		}, arrival + 6*time.Second},
		{"down for ten seconds after a power loss", []sim.Fault{Lasting(10*time.Second, At(3*time.Second, CrashOf("redis-1", trace.PowerLoss)))}, 13 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 10*time.Second).Err()
				SleepUntil(20 * time.Second)
				return err
			}))
			cfg.Nodes[0].Persistence = server.Always
			tr := RunWorld(t, WithFaults(cfg, test.faults...))
			AllFaultsStruck(t, tr)
			expired := OnlyEvent(t, tr, trace.KindExpire, "redis-1")
			EqualTime(t, "the key expired", expired.At, test.expires)
			Equal(t, "the owner of the expired key", expired.Owner.Client, "client-1")
			NoEvents(t, tr, trace.KindForget, "redis-1")
		})
	}
}

// If a node stays down, the trace shows no loss of keys, because no client can notice it.
func TestANodeThatStaysDown(t *testing.T) {
	tr := RunWorld(t, WithFaults(redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 10*time.Second).Err()
		SleepUntil(20 * time.Second)
		return err
	})), At(3*time.Second, CrashOf("redis-1", trace.PowerLoss))))
	for _, kind := range []trace.Kind{trace.KindExpire, trace.KindForget, trace.KindDelete, trace.KindRestart} {
		NoEvents(t, tr, kind, "redis-1")
	}
}

// A power loss undoes what was done since the last sync: a key has its old value again, and
// a lock that was released is held again.
func TestPowerLossUndoesUnsyncedChanges(t *testing.T) {
	var values []string
	cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		conn, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		for _, command := range []string{"SET changed old", "SET released v EX 60", "SET kept v", "SET prolonged v EX 5"} {
			if _, err := Ask(conn, command); err != nil {
				return err
			}
		}
		SleepUntil(1200 * time.Millisecond)
		for _, command := range []string{"SET changed new", "DEL released", "SET added v", "EXPIRE prolonged 50"} {
			if _, err := Ask(conn, command); err != nil {
				return err
			}
		}
		SleepUntil(3 * time.Second)
		if conn, err = Dial(ctx, p, 0); err != nil {
			return err
		}
		for _, key := range []string{"changed", "released", "kept", "added", "prolonged"} {
			value, err := Ask(conn, "GET "+key)
			if err != nil {
				return err
			}
			values = append(values, strings.ReplaceAll(strings.TrimSpace(value), "\r\n", " "))
		}
		SleepUntil(10 * time.Second)
		return nil
	}))
	cfg.Nodes[0].Persistence = server.Everysec
	for _, test := range []struct {
		how  trace.Crash
		want string
	}{
		{trace.Kill, "$3 new, $-1, $1 v, $1 v, $1 v"},
		{trace.PowerLoss, "$3 old, $1 v, $1 v, $-1, $1 v"},
	} {
		t.Run(string(test.how), func(t *testing.T) {
			values = nil
			tr := RunWorld(t, WithFaults(cfg, Lasting(500*time.Millisecond, At(1500*time.Millisecond, CrashOf("redis-1", test.how)))))
			Equal(t, "the replies to GET", strings.Join(values, ", "), test.want)
			EqualTime(t, "the first sync", FirstEvent(t, tr, trace.KindSync, "redis-1").At, time.Second)
			var undone []string
			for _, ev := range tr.Events {
				if ev.Kind == trace.KindForget || ev.Kind == trace.KindRestore {
					Equal(t, "the setter of "+ev.Key, ev.Owner.Client, "client-1")
					undone = append(undone, fmt.Sprintf("%s %s %s", ev.Kind, ev.Key, ev.Value))
				}
			}
			if test.how == trace.Kill {
				Equal(t, "the events of undone changes", strings.Join(undone, ", "), "")
				NoEvents(t, tr, trace.KindExpire, "redis-1")
				return
			}
			Equal(t, "the events of undone changes", strings.Join(undone, ", "), "forget added v, restore changed old, restore prolonged v, restore released v")
			expired := OnlyEvent(t, tr, trace.KindExpire, "redis-1")
			Equal(t, "the key that expired", expired.Key, "prolonged")
			EqualTime(t, "the key prolonged expired", expired.At, 5*time.Second+9*Hop) // it was the fourth command
		})
	}
}

// A snapshot is made an hour after one change, five minutes after 100 changes and a minute
// after 10,000, counted from the last snapshot or the start.
func TestSnapshots(t *testing.T) {
	for _, test := range []struct {
		changes int
		made    time.Duration // when the changes are made
		rule    time.Duration // when a snapshot of so many changes is due, since the start
	}{
		{1, time.Second, time.Hour},
		{99, time.Second, time.Hour},
		{100, time.Second, 5 * time.Minute},
		{9_999, time.Second, 5 * time.Minute},
		{10_000, time.Second, time.Minute},
		{1, 90 * time.Minute, time.Hour},
		{100, 10 * time.Minute, 5 * time.Minute},
	} {
		t.Run(fmt.Sprintf("%d changes after %v", test.changes, test.made), func(t *testing.T) {
			cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				conn, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				SleepUntil(test.made)
				// A single command makes all changes.
				words := make([]string, test.changes)
				for i := range words {
					words[i] = fmt.Sprintf("k%d v", i)
				}
				if _, err := Ask(conn, "MSET "+strings.Join(words, " ")); err != nil {
					return err
				}
				SleepUntil(2 * time.Hour)
				return nil
			}))
			cfg.Horizon = 3 * time.Hour
			cfg.Nodes[0].Persistence = server.Snapshots
			EqualTime(t, "the snapshot", OnlyEvent(t, RunWorld(t, cfg), trace.KindSync, "redis-1").At, max(test.rule, test.made+Hop))
		})
	}
}

// Everysec syncs a change immediately, but at most once a second. The start of a node
// counts as a sync.
func TestEverysec(t *testing.T) {
	cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		r := locks.RedisClient(p.Env(), 0)
		for _, moment := range []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, 5500 * time.Millisecond} {
			SleepUntil(moment)
			if err := r.Incr(ctx, "k").Err(); err != nil {
				return err
			}
		}
		SleepUntil(10 * time.Second)
		return nil
	}))
	cfg.Nodes[0].Persistence = server.Everysec
	syncs := Events(RunWorld(t, cfg), trace.KindSync, "redis-1")
	if len(syncs) != 2 {
		t.Fatalf("%d syncs, want 2", len(syncs))
	}
	EqualTime(t, "the first sync", syncs[0].At, time.Second)
	EqualTime(t, "the second sync", syncs[1].At, 5500*time.Millisecond+Hop)
}

// A node that is paused at the time of its next sync does it when it resumes.
func TestPausedNodeSyncsLate(t *testing.T) {
	for _, pause := range []*sim.Pause{PauseOf("redis-1"), SuspensionOf("redis-1")} {
		cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(300 * time.Millisecond)
			err := locks.RedisClient(p.Env(), 0).Incr(ctx, "k").Err()
			SleepUntil(10 * time.Second)
			return err
		}))
		cfg.Nodes[0].Persistence = server.Everysec
		tr := RunWorld(t, WithFaults(cfg, Lasting(4*time.Second, At(500*time.Millisecond, pause))))
		EqualTime(t, "the sync", OnlyEvent(t, tr, trace.KindSync, "redis-1").At, 4500*time.Millisecond)
	}
}

// A key of each type is the same after a restart, also in a database other than the first.
func TestEveryTypeSurvives(t *testing.T) {
	var before, after []string
	cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		writes := []string{
			"SET string v", "HSET hash a 1 b 2", "RPUSH list x y x", "SADD set m", "ZADD zset 1.5 m 2 n",
			"SELECT 1", "SET string other",
		}
		reads := []string{"GET string", "HMGET hash a b", "LRANGE list 0 -1", "SMEMBERS set", "ZRANGE zset 0 -1 WITHSCORES", "SELECT 1", "GET string", "GET list"}
		sendAll := func(commands []string) (replies []string, err error) {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return nil, err
			}
			for _, command := range commands {
				reply, err := Ask(conn, command)
				if err != nil {
					return nil, err
				}
				replies = append(replies, reply)
			}
			return replies, conn.Close()
		}
		if _, err := sendAll(writes); err != nil {
			return err
		}
		var err error
		if before, err = sendAll(reads); err != nil {
			return err
		}
		SleepUntil(3 * time.Second)
		after, err = sendAll(reads)
		return err
	}))
	cfg.Nodes[0].Persistence = server.Always
	tr := RunWorld(t, WithFaults(cfg, Lasting(time.Second, At(time.Second, CrashOf("redis-1", trace.PowerLoss)))))
	AllFaultsStruck(t, tr)
	Equal(t, "the replies after the crash", strings.Join(after, ""), strings.Join(before, ""))
	NoEvents(t, tr, trace.KindForget, "redis-1")
	NoEvents(t, tr, trace.KindRestore, "redis-1")
	Equal(t, "GET string in database 1 before the crash", before[6], "$5\r\nother\r\n")
}
