package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// threeMembers is a world of three members, of which etcd-1 leads, and of two clients. Each
// client asks one member: asked1 and asked2 are the indices of the members that client-1 and
// client-2 ask, and 0 is etcd-1. client-2 wants the lock while client-1 works for 20 s.
func threeMembers(asked1, asked2 int, faults ...sim.Fault) sim.Config {
	cfg := gcPause(3, storage.None)
	cfg.Lock.Kind = mutexBy(asked1, asked2)
	cfg.Faults = faults
	cfg.Clients[0].Works = 20 * time.Second
	return cfg
}

// cutOff is a fault that cuts a process off from others.
func cutOff(process string, from ...string) *sim.Partition {
	return &sim.Partition{Process: process, From: from}
}

// newLeaders returns the members that became the leader after the beginning of the run, and
// when they did.
func newLeaders(tr *trace.Trace) (leaders []string, when []time.Duration) {
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindLead && ev.At > 0 {
			leaders, when = append(leaders, ev.Process), append(when, ev.At)
		}
	}
	return leaders, when
}

// onlyNewLeader returns the only member that became the leader after the beginning of the
// run, and when it did. It checks that this was between 0.9 and 2.1 s after a fault, which
// struck at the time fault.
func onlyNewLeader(t *testing.T, tr *trace.Trace, fault time.Duration) (leader string, when time.Duration) {
	t.Helper()
	all, at := newLeaders(tr)
	if len(all) != 1 {
		t.Fatalf("the new leaders are %v, want one\n%s", all, Dump(tr))
	}
	checkBetween(t, all[0]+" leads", at[0]-fault, 900*time.Millisecond, 2100*time.Millisecond)
	return all[0], at[0]
}

// checkBetween checks that something happened after at least one time and at most another.
func checkBetween(t *testing.T, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s after %v, want between %v and %v", what, got, least, most)
	}
}

// checkClientsUnharmed checks that both clients held the lock, one after the other, and that
// no session expired.
func checkClientsUnharmed(t *testing.T, tr *trace.Trace) {
	t.Helper()
	AllFaultsStruck(t, tr)
	Equal(t, "violated properties", Violations(tr), "")
	Equal(t, "steps of client-1", Steps(tr, "client-1"), "acquire, read x, work, write x, release")
	Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	NoEvents(t, tr, trace.KindExpireSession, "etcd")
}

func TestTheLeaderCrashes(t *testing.T) {
	winners := map[string]bool{}
	for seed := range uint64(30) {
		cfg := threeMembers(1, 1, At(5*time.Second, CrashOf("etcd-1", trace.Kill)))
		cfg.Seed = seed
		tr := RunWorld(t, cfg)
		checkClientsUnharmed(t, tr)
		leaders, when := newLeaders(tr)
		checkBetween(t, "the last election", when[len(when)-1]-5*time.Second, 900*time.Millisecond, 4*time.Second)
		winners[leaders[0]] = true

		// The member that first misses the leader is elected. There are two exceptions: the
		// other member misses the leader at the same time, or has heard from it less than an
		// election timeout ago.
		var asked []trace.Event
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindSend && ev.At > 5*time.Second && strings.HasPrefix(ev.Text, "would you vote") {
				asked = append(asked, ev)
			}
		}
		if alone := len(asked) == 1 || asked[1].At-asked[0].At > 5*time.Millisecond; alone && asked[0].At > 6100*time.Millisecond && asked[0].Process != leaders[0] {
			t.Errorf("seed %d: %s leads, want %s, which asked for votes first", seed, leaders[0], asked[0].Process)
		}
	}
	Equal(t, "number of members that are elected in some world", len(winners), 2)
}

func TestTheLeaderComesBackAndFollows(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 1, Lasting(4*time.Second, At(5*time.Second, CrashOf("etcd-1", trace.PowerLoss)))))
	checkClientsUnharmed(t, tr)
	onlyNewLeader(t, tr, 5*time.Second)
}

func TestTheLeaderIsPaused(t *testing.T) {
	for _, pause := range []*sim.Pause{PauseOf("etcd-1"), SuspensionOf("etcd-1")} {
		// After this long pause the leader considers all sessions expired, and would end
		// them.
		tr := RunWorld(t, threeMembers(1, 1, Lasting(12*time.Second, At(5*time.Second, pause))))
		checkClientsUnharmed(t, tr)
		onlyNewLeader(t, tr, 5*time.Second)
	}
}

// If several members believe that they lead, only the latest leader renews leases.
func TestAStaleLeaderRenewsNoLeases(t *testing.T) {
	for _, c := range []struct {
		name   string
		pause  *sim.Pause
		lasts  time.Duration
		others []sim.Fault
	}{
		// The stale leader hears from the new leader before it hears from the client.
		{"the leader is paused", PauseOf("etcd-1"), 20 * time.Second, nil},
		{"the machine of the leader is suspended", SuspensionOf("etcd-1"), 20 * time.Second, nil},
		// The stale leader hears from no other member, and asks them whether it still leads.
		{"the leader is paused and cut off", PauseOf("etcd-1"), 5 * time.Second, []sim.Fault{At(5*time.Second, cutOff("etcd-1", "etcd-2", "etcd-3"))}},
	} {
		faults := append(c.others, Lasting(c.lasts, At(5*time.Second, c.pause)))
		tr := RunWorld(t, threeMembers(0, 1, faults...))
		onlyNewLeader(t, tr, 5*time.Second)
		Equal(t, c.name+": the client whose session expired", FirstEvent(t, tr, trace.KindExpireSession, "etcd").Peer, "client-1")
		for _, ev := range Events(tr, trace.KindAlive, "client-1") {
			if ev.At > 5*time.Second && ev.Session == "session-1" {
				t.Errorf("%s: client-1 learned at %v that its session is alive, want no such reply after 5 s", c.name, ev.At)
			}
		}
	}
}

// A member ends a call that requires a leader when it has known no leader for a while. Other
// calls continue.
func TestCallsThatRequireALeader(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		client, err := newClient(p.Env(), p.Env().Nodes[1])
		if err != nil {
			return err
		}
		defer client.Close()
		requiring := client.Watch(clientv3.WithRequireLeader(ctx), "x")
		ordinary := client.Watch(ctx, "x")
		ended := <-requiring
		Equal(t, "error of the watch that requires a leader", ended.Err().Error(), "etcdserver: no leader")
		checkBetween(t, "the watch that requires a leader ended", Now(), 4*time.Second, 6500*time.Millisecond)
		select {
		case r := <-ordinary:
			t.Errorf("the ordinary watch got %v, want nothing", r)
		default:
		}
		return nil
	}))
	cfg.Nodes = Nodes("etcd", 3)
	RunWorld(t, WithFaults(cfg, At(time.Second, CrashOf("etcd-1", trace.Kill)), At(time.Second, CrashOf("etcd-3", trace.Kill))))
}

func TestAShortPauseOfTheLeaderCausesNoElection(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 1, Lasting(700*time.Millisecond, At(5*time.Second, PauseOf("etcd-1")))))
	checkClientsUnharmed(t, tr)
	leaders, _ := newLeaders(tr)
	Equal(t, "number of new leaders", len(leaders), 0)
}

// A new leader does not know when the leases were last renewed. So each lease lasts for its
// whole TTL again, plus the time of an election.
func TestANewLeaderGivesTheWholeTTLAgain(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 2, At(5*time.Second, CrashOf("etcd-1", trace.Kill)), At(5*time.Second, CrashOf("client-1", trace.Kill))))
	_, led := onlyNewLeader(t, tr, 5*time.Second)
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	Equal(t, "the client whose session expired", expired.Peer, "client-1")
	checkBetween(t, "the session expired", expired.At-led, 11*time.Second, 11510*time.Millisecond)
}

func TestTheLeaderIsCutOffFromTheOthers(t *testing.T) {
	// client-1 asks the member that is cut off, and client-2 asks one of the other members.
	tr := RunWorld(t, threeMembers(0, 1, Lasting(40*time.Second, At(5*time.Second, cutOff("etcd-1", "etcd-2", "etcd-3")))))
	_, led := onlyNewLeader(t, tr, 5*time.Second)
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	Equal(t, "the client whose session expired", expired.Peer, "client-1")
	checkBetween(t, "the session expired", expired.At-led, 11*time.Second, 11510*time.Millisecond)
	Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
}

func TestAFollowerIsCutOffFromTheOthers(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 2, Lasting(40*time.Second, At(5*time.Second, cutOff("etcd-2", "etcd-1", "etcd-3")))))
	leaders, _ := newLeaders(tr)
	Equal(t, "number of new leaders", len(leaders), 0) // the member that was cut off does not disturb the others, which have a leader
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	Equal(t, "the client whose session expired", expired.Peer, "client-1")
	checkBetween(t, "the session expired", expired.At-5*time.Second, 6*time.Second, 10510*time.Millisecond)
	Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
}

// Without a majority no entry is committed, so no lease expires.
func TestAMajorityIsDown(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 1,
		Lasting(30*time.Second, At(5*time.Second, CrashOf("etcd-1", trace.Kill))),
		Lasting(30*time.Second, At(5*time.Second, CrashOf("etcd-3", trace.Kill)))))
	AllFaultsStruck(t, tr)
	leaders, when := newLeaders(tr)
	Equal(t, "number of new leaders", len(leaders), 1)
	for _, ev := range tr.Events {
		if ev.Process == "etcd" && ev.At > 5*time.Second && ev.At < when[0] {
			t.Errorf("the cluster changed (%s) at %v, want no change without a majority", ev.Kind, ev.At)
		}
	}
}

// Heartbeats still arrive on a link with a delay of three seconds. The member that gets them
// late asks for votes only until the first late one arrives.
func TestHeartbeatsOnASlowLink(t *testing.T) {
	tr := RunWorld(t, threeMembers(2, 2, At(5*time.Second, &sim.Delay{Process: "etcd-1", To: "etcd-2", By: 3 * time.Second})))
	checkClientsUnharmed(t, tr)
	asked := 0
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindSend && ev.Process == "etcd-2" && ev.Peer == "etcd-3" {
			asked++
			checkBetween(t, "etcd-2 asked for votes", ev.At, 5*time.Second, 8200*time.Millisecond)
		}
	}
	if asked == 0 {
		t.Error("etcd-2 asked for no votes, want some while no heartbeat arrived")
	}
}

// Members measure time by their monotonic clocks, so a jump of a wall clock changes
// nothing.
func TestAWallClockChangesNothing(t *testing.T) {
	plain := RunWorld(t, threeMembers(1, 1))
	jumped := RunWorld(t, threeMembers(1, 1, At(5*time.Second, &sim.Jump{Process: "etcd-1", By: time.Hour})))
	clusterEvents := func(tr *trace.Trace) (all []trace.Event) {
		for _, ev := range tr.Events {
			if ev.Process == "etcd" {
				ev.Seq, ev.By, ev.Owner = 0, nil, nil
				all = append(all, ev)
			}
		}
		return all
	}
	a, b := clusterEvents(plain), clusterEvents(jumped)
	Equal(t, "number of events with the jump", len(b), len(a))
	for i := range a {
		if a[i].At != b[i].At || a[i].Kind != b[i].Kind || a[i].Expires != b[i].Expires {
			t.Fatalf("event %d: %+v without the jump, %+v with it", i, a[i], b[i])
		}
	}
}

// A leader whose clock is too fast ends sessions early.
func TestAFastClockOfTheLeader(t *testing.T) {
	cfg := threeMembers(1, 1, At(time.Second, &sim.Drift{Process: "etcd-1", Rate: 500_000_000}), At(5*time.Second, CrashOf("client-1", trace.Kill)))
	tr := RunWorld(t, cfg)
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	// The lease was renewed at 4 s for 10 s. The fast clock measures 10 s in two thirds of
	// that time.
	checkBetween(t, "the session expired", expired.At, 10660*time.Millisecond, 11010*time.Millisecond)
}

// A serializable read from a member can be stale; a linearizable one waits.
func TestReadsOfAMemberThatIsBehind(t *testing.T) {
	readAndWrite := func(ctx context.Context, p *sim.Program) error {
		upToDate, err := newClient(p.Env(), p.Env().Nodes[0])
		if err != nil {
			return err
		}
		defer upToDate.Close()
		behind, err := newClient(p.Env(), p.Env().Nodes[2])
		if err != nil {
			return err
		}
		defer behind.Close()
		if _, err := behind.Get(ctx, "x"); err != nil {
			return err
		}
		SleepUntil(2 * time.Second)
		if _, err := upToDate.Put(ctx, "x", "1"); err != nil {
			return err
		}
		old, err := behind.Get(ctx, "x", clientv3.WithSerializable())
		if err != nil {
			return err
		}
		Equal(t, "number of keys that the serializable read returns", len(old.Kvs), 0)
		fresh, err := behind.Get(ctx, "x")
		if err != nil {
			return err
		}
		Equal(t, "number of keys that the linearizable read returns", len(fresh.Kvs), 1)
		checkBetween(t, "the linearizable read ended", Now(), 10*time.Second, 12*time.Second)
		return nil
	}
	cfg := ToyWorld(Client(t, "client-1", readAndWrite))
	cfg.Nodes = Nodes("etcd", 3)
	RunWorld(t, WithFaults(cfg, Lasting(9*time.Second, At(time.Second, cutOff("etcd-3", "etcd-1", "etcd-2")))))
}

// A request that a partition holds back for too long belongs to a connection that has been
// closed meanwhile. So the cluster does not execute the request when the partition ends.
func TestRequestOfAClosedConnectionIsNotExecuted(t *testing.T) {
	for _, c := range []struct {
		lasts time.Duration // how long the partition lasts
		keys  int           // how many keys exist in the end: 1 if the request was executed
	}{{3 * time.Second, 1}, {15 * time.Second, 0}} {
		cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			client, err := newClient(p.Env(), p.Env().Nodes[1])
			if err != nil {
				return err
			}
			defer client.Close()
			if _, err := client.Get(ctx, "x"); err != nil {
				return err
			}
			SleepUntil(5200 * time.Millisecond)
			_, failed := client.Put(ctx, "x", "1")
			Equal(t, fmt.Sprintf("partition of %v: the put succeeded", c.lasts), failed == nil, c.keys == 1)
			SleepUntil(30 * time.Second)
			read, err := client.Get(ctx, "x")
			if err != nil {
				return err
			}
			Equal(t, fmt.Sprintf("partition of %v: number of keys in the end", c.lasts), len(read.Kvs), c.keys)
			return nil
		}))
		cfg.Nodes = Nodes("etcd", 3)
		RunWorld(t, WithFaults(cfg, Lasting(c.lasts, At(5*time.Second, cutOff("etcd-2", "etcd-1", "etcd-3")))))
	}
}
