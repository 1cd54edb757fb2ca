package zookeeper_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	adapter "github.com/locksim/locksim/libraries/zookeeper"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// In these tests an ensemble of three begins with zookeeper-3 as its leader; client-1 is
// connected to zookeeper-1, and client-2 to zookeeper-2.

// contended returns a world in which client-1 holds the lock while it works, and client-2
// waits for it.
func contended(t testing.TB, kind string, work time.Duration) sim.Config {
	return world(t, kind, 3,
		sim.Client{Name: "client-1", Works: work},
		sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
}

// leaderCrash returns a world in which the leader crashes while client-1 holds the lock and
// client-2 waits.
func leaderCrash(t testing.TB, kind string, how trace.Crash) sim.Config {
	return WithFaults(contended(t, kind, 30*time.Second), Lasting(10*time.Second, At(5*time.Second, CrashOf("zookeeper-3", how))))
}

// leaderPause returns a world in which the leader is paused until another leader has been
// elected.
func leaderPause(t testing.TB, kind string) sim.Config {
	return WithFaults(contended(t, kind, 40*time.Second), Lasting(20*time.Second, At(5*time.Second, PauseOf("zookeeper-3"))))
}

// leaderApart returns a world in which the leader is cut off from the other servers for a
// while.
func leaderApart(t testing.TB, kind string) sim.Config {
	return WithFaults(contended(t, kind, 40*time.Second), Lasting(20*time.Second, At(5*time.Second, cutOff("zookeeper-3", "zookeeper-1", "zookeeper-2"))))
}

// followerApart returns a world in which the server of the holder is cut off from the other
// servers. When the holder writes, that server has not noticed it yet.
func followerApart(t testing.TB, kind string) sim.Config {
	cfg := contended(t, kind, 12*time.Second)
	cfg.Lock.TTL = 4 * time.Second
	return WithFaults(cfg, Lasting(20*time.Second, At(5*time.Second, cutOff("zookeeper-1", "zookeeper-2", "zookeeper-3"))))
}

func cutOff(process string, from ...string) *sim.Partition {
	return &sim.Partition{Process: process, From: from}
}

// When the leader is lost, the session continues with the next leader, which gives it its
// whole timeout again. So no other client is granted the lock meanwhile.
func TestTheLeaderIsLost(t *testing.T) {
	for name, cfg := range map[string]sim.Config{
		"a crash":      leaderCrash(t, "zookeeper", trace.Kill),
		"a power loss": leaderCrash(t, "zookeeper", trace.PowerLoss),
		"a partition":  leaderApart(t, "zookeeper"),
	} {
		t.Run(name, func(t *testing.T) {
			tr := RunWorld(t, cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "violations", Violations(tr), "")
			OnlyEvent(t, tr, trace.KindLead, "zookeeper-3")
			OnlyEvent(t, tr, trace.KindLead, "zookeeper-2")
			NoEvents(t, tr, trace.KindExpireSession, "zookeeper")
			Equal(t, "steps of client-1", Steps(tr, "client-1"), "acquire, read x, work, write x, release")
			Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
		})
	}
}

// When a paused leader resumes, it does not know yet that another leader was elected. If a
// client reconnects to it then, it answers that the client's session has expired, although
// the next leader knows nothing of that. So the client gives up the lock too early, but no
// other client is granted it too early.
func TestTheLeaderIsPaused(t *testing.T) {
	for _, kind := range kinds {
		tr := RunWorld(t, leaderPause(t, kind))
		AllFaultsStruck(t, tr)
		OnlyEvent(t, tr, trace.KindLead, "zookeeper-2")
		if lost, expired := OnlyEvent(t, tr, trace.KindLost, "client-1"), FirstEvent(t, tr, trace.KindExpireSession, "zookeeper"); lost.At > expired.At {
			t.Errorf("%s: client-1 was notified of its loss at %v, want no later than %v, when its session expired", kind, lost.At, expired.At)
		}
		Equal(t, kind+": violations", Violations(tr), "section-exclusion inherent: needs fencing")
	}
}

// A follower that is cut off keeps answering the pings of the holder. The leader learns
// nothing of these pings and ends the session. So a session can expire although its pings
// were answered.
func TestTheHoldersServerIsCutOff(t *testing.T) {
	for _, kind := range kinds {
		tr := RunWorld(t, followerApart(t, kind))
		AllFaultsStruck(t, tr)
		Equal(t, kind+": violations", Violations(tr), "lease-exclusion lock, section-exclusion lock, grant-order, write-order, no-lost-update, serial-sections")
		Equal(t, "the client whose session expired", FirstEvent(t, tr, trace.KindExpireSession, "zookeeper").Peer, "client-1")
	}
}

// Without a majority, nothing changes: not even a session expires.
func TestTheMajorityIsDown(t *testing.T) {
	cfg := WithFaults(contended(t, "zookeeper", time.Second),
		At(5*time.Millisecond, CrashOf("zookeeper-2", trace.PowerLoss)), At(500*time.Millisecond, CrashOf("zookeeper-3", trace.PowerLoss)))
	cfg.Horizon = 2 * time.Minute
	tr := RunWorld(t, cfg)
	AllFaultsStruck(t, tr)
	NoEvents(t, tr, trace.KindExpireSession, "zookeeper")
	NoEvents(t, tr, trace.KindLead, "zookeeper-1")
	NoEvents(t, tr, trace.KindDone, "client-2")
}

// Sessions expire by the monotonic clock: the wall clock does not matter.
func TestWallClocksDoNotMatter(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		cfg := contended(t, "zookeeper", 30*time.Second)
		for i := range 3 {
			cfg = WithFaults(cfg, At(5*time.Second, &sim.Jump{Process: fmt.Sprint("zookeeper-", i+1), By: by}))
		}
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, "violations", Violations(tr), "")
		NoEvents(t, tr, trace.KindExpireSession, "zookeeper")
	}
}

// If only a minority has a proposal, and another leader is elected, the proposal is
// discarded.
func TestAForgottenProposal(t *testing.T) {
	var errLost, errKept error
	var after []bool
	tr := RunWorld(t, WithFaults(programs(t, 3,
		func(*zk.Conn) {},
		func(c *zk.Conn) {
			SleepUntil(30 * time.Second)
			_, errKept = c.Create("/kept", nil, 0, zk.WorldACL(zk.PermAll))
		},
		func(c *zk.Conn) { // the leader's client
			SleepUntil(6 * time.Second)
			_, errLost = c.Create("/lost", nil, 0, zk.WorldACL(zk.PermAll))
			SleepUntil(60 * time.Second)
			for _, path := range []string{"/lost", "/kept"} {
				there, _, err := c.Exists(path)
				if err != nil {
					t.Error(err)
				}
				after = append(after, there)
			}
		}),
		Lasting(40*time.Second, At(5*time.Second, cutOff("zookeeper-3", "zookeeper-1", "zookeeper-2")))))
	AllFaultsStruck(t, tr)
	OnlyEvent(t, tr, trace.KindLead, "zookeeper-2")
	if errLost != zk.ErrConnectionClosed || errKept != nil || len(after) != 2 || after[0] || !after[1] {
		t.Errorf("create /lost returns %v, create /kept returns %v, and they exist afterwards: %v; want %v, nil and [false true]", errLost, errKept, after, zk.ErrConnectionClosed)
	}
}

// A member answers reads from its own tree, which may lack the latest changes. After a
// sync, the tree contains all that was written before the sync.
func TestStaleReads(t *testing.T) {
	var read, synced string
	tr := RunWorld(t, WithFaults(programs(t, 3,
		func(c *zk.Conn) {
			SleepUntil(4 * time.Second)
			data, _, err := c.Get("/x")
			if err != nil {
				t.Error(err)
			}
			read = string(data)
			if _, err := c.Sync("/x"); err != nil {
				t.Error(err)
			}
			data, _, _ = c.Get("/x")
			synced = string(data)
		},
		func(c *zk.Conn) {
			if _, err := c.Create("/x", []byte("old"), 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
			SleepUntil(2 * time.Second)
			if _, err := c.Set("/x", []byte("new"), -1); err != nil {
				t.Error(err)
			}
		}),
		Lasting(5*time.Second, At(time.Second, cutOff("zookeeper-1", "zookeeper-3")))))
	AllFaultsStruck(t, tr)
	Equal(t, "the data that is read before the sync", read, "old")
	Equal(t, "the data that is read after the sync", synced, "new")
}

// programs returns a world without a lock. Each client runs a function with its connection.
func programs(t *testing.T, servers int, all ...func(*zk.Conn)) sim.Config {
	cfg := ToyWorld()
	cfg.Nodes = Nodes("zookeeper", servers)
	for i, do := range all {
		cfg.Clients = append(cfg.Clients, Client(t, fmt.Sprint("client-", i+1), func(ctx context.Context, p *sim.Program) error {
			env := p.Env()
			env.TTL = 10 * time.Second
			s, err := adapter.Open(env)
			if err == nil {
				env.WarmUp(ctx)
				do(s.Conn)
			}
			return err
		}))
	}
	return cfg
}

// A server that was killed, or whose power was lost, still has everything that it had
// acknowledged. Sessions get their whole timeout again.
func TestARestart(t *testing.T) {
	for _, how := range []trace.Crash{trace.Kill, trace.PowerLoss, trace.Shutdown} {
		cfg := world(t, "zookeeper", 1, sim.Client{Name: "client-1", Works: 20 * time.Second}, sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
		tr := RunWorld(t, WithFaults(cfg, Lasting(5*time.Second, At(5*time.Second, CrashOf("zookeeper-1", how)))))
		AllFaultsStruck(t, tr)
		Equal(t, string(how)+": violations", Violations(tr), "")
		NoEvents(t, tr, trace.KindExpireSession, "zookeeper")
		Equal(t, "steps of client-1", Steps(tr, "client-1"), "acquire, read x, work, write x, release")
	}
}

// While a server is overloaded, it refuses requests, but sessions stay alive.
func TestAServerFails(t *testing.T) {
	var failed, then error
	tr := RunWorld(t, WithFaults(programs(t, 1, func(c *zk.Conn) {
		SleepUntil(2 * time.Second)
		_, _, failed = c.Exists("/x")
		SleepUntil(30 * time.Second)
		_, _, then = c.Exists("/x")
	}), Lasting(20*time.Second, At(time.Second, &sim.Fail{Node: "zookeeper-1"}))))
	AllFaultsStruck(t, tr)
	NoEvents(t, tr, trace.KindExpireSession, "zookeeper")
	if failed == nil || failed.Error() != "unknown error: -127" || then != nil {
		t.Errorf("Exists returns %v while the server fails and %v afterwards; want unknown error: -127 and nil", failed, then)
	}
}

// Ensembles of any size begin with a leader and serve clients.
func TestEnsembleSizes(t *testing.T) {
	for _, servers := range []int{1, 2, 3, 5} {
		tr := RunWorld(t, world(t, "zookeeper", servers, sim.Client{Name: "client-1"}, sim.Client{Name: "client-2"}))
		Equal(t, "violations", Violations(tr), "")
		Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	}
}

// With a thundering herd, every release notifies all waiters, all but one in vain. With a
// queue, it notifies only the next waiter.
func TestHerd(t *testing.T) {
	for _, clients := range []int{2, 3, 11, 101} {
		for kind, want := range map[string]int{"zookeeper": clients - 1, "zookeeper-naive": clients * (clients - 1) / 2} {
			cfg := world(t, kind, 1)
			cfg.Lock.TTL = 40 * time.Second
			for i := range clients {
				cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i+1), Works: 500 * time.Millisecond})
			}
			tr := RunWorld(t, cfg)
			Equal(t, kind+": violations", Violations(tr), "")
			notified := 0
			for _, ev := range tr.Events {
				if ev.Kind == trace.KindNotify {
					notified++
				}
			}
			Equal(t, fmt.Sprint(kind, ": notifications of ", clients, " clients"), notified, want)
		}
	}
}
