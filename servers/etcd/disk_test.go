package etcd_test

import (
	"context"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/servers/etcd"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// stalledDisk is a world of three members. The disk of one member stalls from the first second
// on, when no client writes. client-1 holds the lock, and client-2 asks for it after a
// while. first and second are the members that they ask.
func stalledDisk(first, second int, member string, lasts time.Duration, settings ...string) sim.Config {
	cfg := threeMembers(first, second, Lasting(lasts, At(time.Second, &sim.DiskStall{Node: member})))
	cfg.Clients[1].Starts = Point("5s after client-1 acquired")
	for i := range cfg.Nodes {
		cfg.Nodes[i].Settings = settings
	}
	return cfg
}

// checkNoNewLeader checks that no other member has become the leader since the beginning of the
// run.
func checkNoNewLeader(t *testing.T, tr *trace.Trace) {
	t.Helper()
	who, _ := newLeaders(tr)
	Equal(t, "new leaders", len(who), 0)
}

// A stalled disk matters only to a member that has something to write.
func TestADiskStallsAndNobodyWrites(t *testing.T) {
	tr := RunWorld(t, stalledDisk(1, 1, "etcd-1", 3*time.Second))
	checkUnharmed(t, tr)
	checkNoNewLeader(t, tr)
}

// A follower whose disk stalls is not needed for a majority, and asks for no votes.
func TestAFollowersDiskStalls(t *testing.T) {
	for _, lasts := range []time.Duration{10 * time.Second, time.Minute} {
		tr := RunWorld(t, stalledDisk(1, 1, "etcd-3", lasts))
		checkUnharmed(t, tr)
		checkNoNewLeader(t, tr)
	}
}

// A leader whose disk stalls still sends the write to the other members, but no heartbeats
// after it.
func TestTheLeadersDiskStalls(t *testing.T) {
	for seed := range uint64(20) {
		cfg := stalledDisk(1, 2, "etcd-1", 30*time.Second)
		cfg.Seed = seed
		tr := RunWorld(t, cfg)
		checkUnharmed(t, tr)
		who, when := newLeaders(tr)
		checkBetween(t, "the first election", when[0]-5*time.Second, 900*time.Millisecond, 4*time.Second)
		Equal(t, "who is back leads", who[len(who)-1] == "etcd-1", false)
	}
}

// By the rules of an earlier release, a stale leader ends a session that the new leader
// keeps alive. It also keeps a session alive that the new leader ends.
func TestAStaleLeaderOfAnEarlierRelease(t *testing.T) {
	const old = "lessor=3.4.23"
	revoked := RunWorld(t, stalledDisk(1, 2, "etcd-1", 18*time.Second, old))
	AllFaultsStruck(t, revoked)
	over := FirstEvent(t, revoked, trace.KindExpireSession, "etcd")
	Equal(t, "whose session", over.Peer, "client-1")
	Equal(t, "who ends it", over.Text, "etcd-1")
	Equal(t, "when", over.At.Truncate(100*time.Millisecond), 19*time.Second)
	Equal(t, "the lock", Events(revoked, trace.KindDelete, "etcd")[0].Owner.Client, "client-1")

	cfg := stalledDisk(0, 1, "etcd-1", time.Minute, old)
	cfg.Clients[0].Works = 25 * time.Second
	renewed := RunWorld(t, cfg)
	AllFaultsStruck(t, renewed)
	Equal(t, "broken", Violations(renewed), "lease-exclusion lock, section-exclusion lock, grant-order, write-order, no-lost-update, serial-sections")
	over = FirstEvent(t, renewed, trace.KindExpireSession, "etcd")
	Equal(t, "whose session", over.Peer, "client-1")
	Equal(t, "who alone ends it", over.Text, "")

	for _, f := range []struct{ member, settings string }{{"etcd-1", "lessor=3.7.3"}, {"etcd-1", "lessor="}} {
		bad := stalledDisk(0, 1, f.member, time.Minute, f.settings)
		Equal(t, "refused", bad.CheckNodes().Error(), "lessor: it must be 3.4.23")
	}
}

// The only member of a cluster serves only from its memory while its disk stalls, and gives
// up on requests that take too long.
func TestTheOnlyDiskStalls(t *testing.T) {
	ask := func(ctx context.Context, p *sim.Program) error {
		client, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer client.Close()
		if _, err := client.Put(ctx, "x", "1"); err != nil {
			return err
		}
		SleepUntil(2 * time.Second)
		if _, err := client.Get(ctx, "x"); err != nil {
			return err
		}
		checkBetween(t, "it is read", Now(), 2*time.Second, 2100*time.Millisecond)
		_, failed := client.Put(ctx, "x", "2")
		Equal(t, "why", failed.Error(), "etcdserver: request timed out")
		checkBetween(t, "it failed", Now(), 9*time.Second, 9100*time.Millisecond)
		// This read waits until the write is done. The client repeats it until there is a
		// response.
		there, err := client.Get(ctx, "x")
		if err != nil {
			return err
		}
		checkBetween(t, "it is read", Now(), 20*time.Second, 23*time.Second)
		Equal(t, "what was not on the disk is, in the end", string(there.Kvs[0].Value), "2")
		return nil
	}
	cfg := ToyWorld(Client(t, "client-1", ask))
	cfg.Nodes = Nodes(etcd.Name, 1)
	RunWorld(t, WithFaults(cfg, Lasting(19*time.Second, At(time.Second, &sim.DiskStall{Node: "etcd-1"}))))
}

// A crash loses what is not on the disk, which the member has not acknowledged. A member
// that restarts while the disk still stalls waits for the disk again.
func TestACrashWhileTheDiskStalls(t *testing.T) {
	for _, f := range []sim.Fault{
		Lasting(2*time.Second, At(8*time.Second, CrashOf("etcd-1", trace.Kill))),
		Lasting(40*time.Second, At(8*time.Second, CrashOf("etcd-1", trace.PowerLoss))),
	} {
		tr := RunWorld(t, WithFaults(stalledDisk(1, 2, "etcd-1", 30*time.Second), f))
		checkUnharmed(t, tr)
	}
}
