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

// stalledDisk is a world of three members, of which etcd-1 leads. One second after the start,
// the disk of one member stalls. At that time client-1 holds the lock, and no client sends
// etcd a write. The next write is the request of client-2, about four seconds later.
// asked1 and asked2 are the indices of the members that client-1 and client-2 ask: 0 is
// etcd-1.
func stalledDisk(asked1, asked2 int, member string, lasts time.Duration, settings ...string) sim.Config {
	cfg := threeMembers(asked1, asked2, Lasting(lasts, At(time.Second, &sim.DiskStall{Node: member})))
	cfg.Clients[1].Starts = Point("5s after client-1 acquired")
	for i := range cfg.Nodes {
		cfg.Nodes[i].Settings = settings
	}
	return cfg
}

// checkNoNewLeader checks that no member has become the leader after the beginning of the
// run.
func checkNoNewLeader(t *testing.T, tr *trace.Trace) {
	t.Helper()
	leaders, _ := newLeaders(tr)
	Equal(t, "number of new leaders", len(leaders), 0)
}

// A stalled disk matters only to a member that has something to write to it. Here the disk
// works again before the next write.
func TestADiskStallsAndNobodyWrites(t *testing.T) {
	tr := RunWorld(t, stalledDisk(1, 1, "etcd-1", 3*time.Second))
	checkClientsUnharmed(t, tr)
	checkNoNewLeader(t, tr)
}

// The cluster does not need a follower whose disk stalls, because the two other members are a
// majority. The follower asks for no votes.
func TestAFollowersDiskStalls(t *testing.T) {
	for _, lasts := range []time.Duration{10 * time.Second, time.Minute} {
		tr := RunWorld(t, stalledDisk(1, 1, "etcd-3", lasts))
		checkClientsUnharmed(t, tr)
		checkNoNewLeader(t, tr)
	}
}

// A leader whose disk stalls still sends the request of client-2 to the other members, but no
// heartbeats after it. So another member is elected. When the disk works again, etcd-1 does
// not become the leader again.
func TestTheLeadersDiskStalls(t *testing.T) {
	for seed := range uint64(20) {
		cfg := stalledDisk(1, 2, "etcd-1", 30*time.Second)
		cfg.Seed = seed
		tr := RunWorld(t, cfg)
		checkClientsUnharmed(t, tr)
		leaders, when := newLeaders(tr)
		checkBetween(t, "the first election", when[0]-5*time.Second, 900*time.Millisecond, 4*time.Second)
		Equal(t, "etcd-1 leads at the end", leaders[len(leaders)-1] == "etcd-1", false)
	}
}

// By the rules of release 3.4.23, a stale leader can expire a session that the new leader
// keeps alive. It can also keep a session alive that the new leader expires.
func TestAStaleLeaderOfAnEarlierRelease(t *testing.T) {
	const old = "lessor=3.4.23"
	revoked := RunWorld(t, stalledDisk(1, 2, "etcd-1", 18*time.Second, old))
	AllFaultsStruck(t, revoked)
	expired := FirstEvent(t, revoked, trace.KindExpireSession, "etcd")
	Equal(t, "the client whose session expires", expired.Peer, "client-1")
	Equal(t, "the stale leader that alone judged the session expired", expired.Text, "etcd-1")
	Equal(t, "when the session expires", expired.At.Truncate(100*time.Millisecond), 19*time.Second)
	Equal(t, "the client whose lock is deleted", Events(revoked, trace.KindDelete, "etcd")[0].Owner.Client, "client-1")

	cfg := stalledDisk(0, 1, "etcd-1", time.Minute, old)
	cfg.Clients[0].Works = 25 * time.Second
	renewed := RunWorld(t, cfg)
	AllFaultsStruck(t, renewed)
	Equal(t, "violated properties", Violations(renewed), "lease-exclusion lock, section-exclusion lock, grant-order, write-order, no-lost-update, serial-sections")
	expired = FirstEvent(t, renewed, trace.KindExpireSession, "etcd")
	Equal(t, "the client whose session expires", expired.Peer, "client-1")
	Equal(t, "a stale leader that alone judged the session expired (none)", expired.Text, "")

	// The setting accepts no other release.
	for _, settings := range []string{"lessor=3.7.3", "lessor="} {
		bad := stalledDisk(0, 1, "etcd-1", time.Minute, settings)
		Equal(t, "error of the setting "+settings, bad.CheckNodes().Error(), "lessor: it must be 3.4.23")
	}
}

// While the disk of the only member of a cluster stalls, the member serves reads from its
// memory. A write gets an error after seven seconds, and is on the disk in the end.
func TestTheDiskOfTheOnlyMemberStalls(t *testing.T) {
	useClient := func(ctx context.Context, p *sim.Program) error {
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
		checkBetween(t, "the read during the stall ends", Now(), 2*time.Second, 2100*time.Millisecond)
		_, failed := client.Put(ctx, "x", "2")
		Equal(t, "error of the write during the stall", failed.Error(), "etcdserver: request timed out")
		checkBetween(t, "the write fails", Now(), 9*time.Second, 9100*time.Millisecond)
		// This read waits until the write is on the disk. The client repeats the read until it
		// gets a response.
		read, err := client.Get(ctx, "x")
		if err != nil {
			return err
		}
		checkBetween(t, "the read after the write ends", Now(), 20*time.Second, 23*time.Second)
		Equal(t, "the value after the stall", string(read.Kvs[0].Value), "2")
		return nil
	}
	cfg := ToyWorld(Client(t, "client-1", useClient))
	cfg.Nodes = Nodes(etcd.Name, 1)
	RunWorld(t, WithFaults(cfg, Lasting(19*time.Second, At(time.Second, &sim.DiskStall{Node: "etcd-1"}))))
}

// A crash loses changes that are not on the disk. No change is lost that the member has
// acknowledged, because it acknowledges a change only when the change is on the disk. A
// member that restarts while the disk still stalls waits for the disk again.
func TestACrashWhileTheDiskStalls(t *testing.T) {
	for _, f := range []sim.Fault{
		Lasting(2*time.Second, At(8*time.Second, CrashOf("etcd-1", trace.Kill))),
		Lasting(40*time.Second, At(8*time.Second, CrashOf("etcd-1", trace.PowerLoss))),
	} {
		tr := RunWorld(t, WithFaults(stalledDisk(1, 2, "etcd-1", 30*time.Second), f))
		checkClientsUnharmed(t, tr)
	}
}
