package etcd_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// threeMembers is a world of three members, of which the first leads, and of two clients. Each
// client asks one member: first and second are the indices. The second client wants the
// lock while the first client works for 20 s.
func threeMembers(first, second int, faults ...sim.Fault) sim.Config {
	cfg := gcPause(3, storage.None)
	cfg.Lock.Kind = mutexBy(first, second)
	cfg.Faults = faults
	cfg.Clients[0].Works = 20 * time.Second
	return cfg
}

func cutOff(process string, from ...string) *sim.Partition {
	return &sim.Partition{Process: process, From: from}
}

// newLeaders returns the members that became the leader after the beginning of the run, and
// when they did.
func newLeaders(tr *trace.Trace) (who []string, when []time.Duration) {
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindLead && ev.At > 0 {
			who, when = append(who, ev.Process), append(when, ev.At)
		}
	}
	return who, when
}

// onlyNewLeader returns the only member that became the leader after a fault at the time
// after, and when it did.
func onlyNewLeader(t *testing.T, tr *trace.Trace, after time.Duration) (who string, when time.Duration) {
	t.Helper()
	all, at := newLeaders(tr)
	if len(all) != 1 {
		t.Fatalf("%v have become leaders, want one\n%s", all, Dump(tr))
	}
	checkBetween(t, all[0]+" leads", at[0]-after, 900*time.Millisecond, 2100*time.Millisecond)
	return all[0], at[0]
}

func checkBetween(t *testing.T, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s after %v, want between %v and %v", what, got, least, most)
	}
}

// checkUnharmed checks that both clients held the lock, one after the other, and that no
// session expired.
func checkUnharmed(t *testing.T, tr *trace.Trace) {
	t.Helper()
	AllFaultsStruck(t, tr)
	Equal(t, "broken", Violations(tr), "")
	Equal(t, "client-1", Steps(tr, "client-1"), "acquire, read x, work, write x, release")
	Equal(t, "client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	NoEvents(t, tr, trace.KindExpireSession, "etcd")
}

func TestTheLeaderCrashes(t *testing.T) {
	winners := map[string]bool{}
	for seed := range uint64(30) {
		cfg := threeMembers(1, 1, At(5*time.Second, CrashOf("etcd-1", trace.Kill)))
		cfg.Seed = seed
		tr := RunWorld(t, cfg)
		checkUnharmed(t, tr)
		who, when := newLeaders(tr)
		checkBetween(t, "the last election", when[len(when)-1]-5*time.Second, 900*time.Millisecond, 4*time.Second)
		winners[who[0]] = true

		// The member that misses the leader first is elected. There are two exceptions: the
		// other member misses it at the same time, or has heard it less than an election
		// timeout ago.
		var asked []trace.Event
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindSend && ev.At > 5*time.Second && strings.HasPrefix(ev.Text, "would you vote") {
				asked = append(asked, ev)
			}
		}
		if alone := len(asked) == 1 || asked[1].At-asked[0].At > 5*time.Millisecond; alone && asked[0].At > 6100*time.Millisecond && asked[0].Process != who[0] {
			t.Errorf("seed %d: %s asked first, and %s leads", seed, asked[0].Process, who[0])
		}
	}
	Equal(t, "winners", len(winners), 2)
}

func TestTheLeaderComesBackAndFollows(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 1, Lasting(4*time.Second, At(5*time.Second, CrashOf("etcd-1", trace.PowerLoss)))))
	checkUnharmed(t, tr)
	onlyNewLeader(t, tr, 5*time.Second)
}

func TestTheLeaderIsPaused(t *testing.T) {
	for _, pause := range []*sim.Pause{PauseOf("etcd-1"), SuspensionOf("etcd-1")} {
		// After this long pause the leader considers all sessions expired, and would end
		// them.
		tr := RunWorld(t, threeMembers(1, 1, Lasting(12*time.Second, At(5*time.Second, pause))))
		checkUnharmed(t, tr)
		onlyNewLeader(t, tr, 5*time.Second)
	}
}

// Of several members that believe that they lead, only the latest leader renews leases.
func TestAStaleLeaderRenewsNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		pause  *sim.Pause
		lasts  time.Duration
		others []sim.Fault
	}{
		// The stale leader hears the new leader before it hears the client.
		{"stopped", PauseOf("etcd-1"), 20 * time.Second, nil},
		{"suspended", SuspensionOf("etcd-1"), 20 * time.Second, nil},
		// The stale leader hears no other member, and asks them.
		{"cut off", PauseOf("etcd-1"), 5 * time.Second, []sim.Fault{At(5*time.Second, cutOff("etcd-1", "etcd-2", "etcd-3"))}},
	} {
		faults := append(c.others, Lasting(c.lasts, At(5*time.Second, c.pause)))
		tr := RunWorld(t, threeMembers(0, 1, faults...))
		onlyNewLeader(t, tr, 5*time.Second)
		Equal(t, c.name+": whose session expired", FirstEvent(t, tr, trace.KindExpireSession, "etcd").Peer, "client-1")
		for _, ev := range Events(tr, trace.KindAlive, "client-1") {
			if ev.At > 5*time.Second && ev.Session == "session-1" {
				t.Errorf("%s: client-1 was told at %v that its session lives", c.name, ev.At)
			}
		}
	}
}

// A call that needs a leader is ended when the member has known none for a while. Other
// calls continue.
func TestCallsThatWantALeader(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		client, err := newClient(p.Env(), p.Env().Nodes[1])
		if err != nil {
			return err
		}
		defer client.Close()
		wants := client.Watch(clientv3.WithRequireLeader(ctx), "x")
		others := client.Watch(ctx, "x")
		ended := <-wants
		Equal(t, "why", ended.Err().Error(), "etcdserver: no leader")
		checkBetween(t, "it ended", Now(), 4*time.Second, 6500*time.Millisecond)
		select {
		case r := <-others:
			t.Errorf("the other has heard of %v", r)
		default:
		}
		return nil
	}))
	cfg.Nodes = Nodes("etcd", 3)
	RunWorld(t, WithFaults(cfg, At(time.Second, CrashOf("etcd-1", trace.Kill)), At(time.Second, CrashOf("etcd-3", trace.Kill))))
}

func TestAShortPauseOfTheLeaderIsNoticedByNobody(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 1, Lasting(700*time.Millisecond, At(5*time.Second, PauseOf("etcd-1")))))
	checkUnharmed(t, tr)
	who, _ := newLeaders(tr)
	Equal(t, "leaders", len(who), 0)
}

// A new leader does not know when the leases were last renewed. So each lease lasts for its
// whole TTL again, plus the time of an election.
func TestANewLeaderGivesTheWholeTTLAgain(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 2, At(5*time.Second, CrashOf("etcd-1", trace.Kill)), At(5*time.Second, CrashOf("client-1", trace.Kill))))
	_, led := onlyNewLeader(t, tr, 5*time.Second)
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	Equal(t, "whose", expired.Peer, "client-1")
	checkBetween(t, "the session expired", expired.At-led, 11*time.Second, 11510*time.Millisecond)
}

func TestTheLeaderIsCutOffFromTheOthers(t *testing.T) {
	// The first client asks the member that is cut off, and the second client asks one of
	// the other members.
	tr := RunWorld(t, threeMembers(0, 1, Lasting(40*time.Second, At(5*time.Second, cutOff("etcd-1", "etcd-2", "etcd-3")))))
	_, led := onlyNewLeader(t, tr, 5*time.Second)
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	Equal(t, "whose", expired.Peer, "client-1")
	checkBetween(t, "the session expired", expired.At-led, 11*time.Second, 11510*time.Millisecond)
	Equal(t, "client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
}

func TestAFollowerIsCutOffFromTheOthers(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 2, Lasting(40*time.Second, At(5*time.Second, cutOff("etcd-2", "etcd-1", "etcd-3")))))
	who, _ := newLeaders(tr)
	Equal(t, "leaders", len(who), 0) // the member that was cut off does not disturb the others, which have a leader
	expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
	Equal(t, "whose", expired.Peer, "client-1")
	checkBetween(t, "the session expired", expired.At-5*time.Second, 6*time.Second, 10510*time.Millisecond)
	Equal(t, "client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
}

// Without a majority no entry is committed, so no lease expires.
func TestAMajorityIsDown(t *testing.T) {
	tr := RunWorld(t, threeMembers(1, 1,
		Lasting(30*time.Second, At(5*time.Second, CrashOf("etcd-1", trace.Kill))),
		Lasting(30*time.Second, At(5*time.Second, CrashOf("etcd-3", trace.Kill)))))
	AllFaultsStruck(t, tr)
	who, when := newLeaders(tr)
	Equal(t, "leaders", len(who), 1)
	for _, ev := range tr.Events {
		if ev.Process == "etcd" && ev.At > 5*time.Second && ev.At < when[0] {
			t.Errorf("%s at %v", ev.Kind, ev.At)
		}
	}
}

// A link with a delay of three seconds still works.
func TestHeartbeatsOnASlowWay(t *testing.T) {
	tr := RunWorld(t, threeMembers(2, 2, At(5*time.Second, &sim.Delay{Process: "etcd-1", To: "etcd-2", By: 3 * time.Second})))
	checkUnharmed(t, tr)
	asked := 0
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindSend && ev.Process == "etcd-2" && ev.Peer == "etcd-3" {
			asked++
			checkBetween(t, "etcd-2 asked for votes", ev.At, 5*time.Second, 8200*time.Millisecond)
		}
	}
	if asked == 0 {
		t.Error("etcd-2 did not notice that it heard nothing")
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
	Equal(t, "events", len(b), len(a))
	for i := range a {
		if a[i].At != b[i].At || a[i].Kind != b[i].Kind || a[i].Expires != b[i].Expires {
			t.Fatalf("event %d: %+v, with the jump %+v", i, a[i], b[i])
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
	ask := func(ctx context.Context, p *sim.Program) error {
		ahead, err := newClient(p.Env(), p.Env().Nodes[0])
		if err != nil {
			return err
		}
		defer ahead.Close()
		behind, err := newClient(p.Env(), p.Env().Nodes[2])
		if err != nil {
			return err
		}
		defer behind.Close()
		if _, err := behind.Get(ctx, "x"); err != nil {
			return err
		}
		SleepUntil(2 * time.Second)
		if _, err := ahead.Put(ctx, "x", "1"); err != nil {
			return err
		}
		old, err := behind.Get(ctx, "x", clientv3.WithSerializable())
		if err != nil {
			return err
		}
		Equal(t, "keys that are there already", len(old.Kvs), 0)
		fresh, err := behind.Get(ctx, "x")
		if err != nil {
			return err
		}
		Equal(t, "keys that are there", len(fresh.Kvs), 1)
		checkBetween(t, "it was there", Now(), 10*time.Second, 12*time.Second)
		return nil
	}
	cfg := ToyWorld(Client(t, "client-1", ask))
	cfg.Nodes = Nodes("etcd", 3)
	RunWorld(t, WithFaults(cfg, Lasting(9*time.Second, At(time.Second, cutOff("etcd-3", "etcd-1", "etcd-2")))))
}

// A message that is held back for too long belongs to a connection that has been closed
// meanwhile. So the cluster does not execute a request when a partition ends if the client
// has given up on it long before.
func TestWhatComesTooLateIsNotDone(t *testing.T) {
	for _, c := range []struct {
		lasts time.Duration
		keys  int
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
			Equal(t, "done in time", failed == nil, c.keys == 1)
			SleepUntil(30 * time.Second)
			there, err := client.Get(ctx, "x")
			if err != nil {
				return err
			}
			Equal(t, "keys", len(there.Kvs), c.keys)
			return nil
		}))
		cfg.Nodes = Nodes("etcd", 3)
		RunWorld(t, WithFaults(cfg, Lasting(c.lasts, At(5*time.Second, cutOff("etcd-2", "etcd-1", "etcd-3")))))
	}
}
