package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// demotionWorld runs a world. At 1 s redis-1 is cut off from its replicas. At 2 s redis-2
// takes its place. At 4 s the partition ends. At 5 s redis-1 is demoted, unless demoted is
// false. A client keeps a connection to redis-1 and sends it the commands in asks at their
// times, which are multiples of half a second.
func demotionWorld(t *testing.T, demoted bool, settings []string, asks map[time.Duration]string) (tr *trace.Trace, answers map[time.Duration]string) {
	t.Helper()
	answers = map[time.Duration]string{}
	cfg := replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		conn, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		for at := time.Duration(0); at < 30*time.Second; at += time.Second / 2 {
			if command := asks[at]; command != "" {
				SleepUntil(at)
				got, err := Ask(conn, command)
				if err != nil {
					return err
				}
				answers[at] = strings.TrimSuffix(strings.ReplaceAll(got, "\r\n", " "), " ")
			}
		}
		return nil
	}))
	cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-3", System: "redis", ReplicaOf: "redis-1", Persistence: sim.NoPersistence})
	for i := range cfg.Nodes {
		cfg.Nodes[i].Settings = settings
	}
	cut := Lasting(3*time.Second, At(time.Second, &sim.Partition{Process: "redis-1", From: []string{"redis-2", "redis-3"}}))
	faults := []sim.Fault{cut, At(2*time.Second, &sim.Promote{Node: "redis-2"})}
	if demoted {
		faults = append(faults, At(5*time.Second, &sim.Demote{Node: "redis-1"}))
	}
	tr = RunWorld(t, WithFaults(cfg, faults...))
	AllFaultsStruck(t, tr)
	return tr, answers
}

// When a former master follows the new master, it discards the writes that it has accepted
// while both were masters.
func TestDemotion(t *testing.T) {
	const s = time.Second
	asks := map[time.Duration]string{s / 2: "SET both v", 3 * s: "SET lost v", 7 * s: "GET lost", 8 * s: "GET both", 9 * s: "SET late v"}
	for _, demoted := range []bool{true, false} {
		tr, got := demotionWorld(t, demoted, nil, asks)
		want := map[time.Duration]string{s / 2: "+OK", 3 * s: "+OK", 7 * s: "$1 v", 8 * s: "$1 v", 9 * s: "+OK"}
		if demoted {
			want[7*s], want[9*s] = "$-1", "-READONLY You can't write against a read only replica."
			EqualTime(t, "redis-1 discards the lost write", OnlyEvent(t, tr, trace.KindDelete, "redis-1").At, 5*s+3*Hop)
		}
		for at, answer := range want {
			Equal(t, "the answer to "+asks[at], got[at], answer)
		}
	}
}

// A demotion of a master that was not replaced by another node does nothing, and the run
// says so.
func TestDemotionOfAMasterThatWasNotReplaced(t *testing.T) {
	tr := RunWorld(t, WithFaults(replicatedWorld(0, Client(t, "client-1", func(context.Context, *sim.Program) error {
		SleepUntil(2 * time.Second)
		return nil
	})), At(time.Second, &sim.Demote{Node: "redis-1"})))
	Equal(t, "why the demotion did nothing", tr.Faults[0].IdleReason, "no replica had taken the place of redis-1 when it was to be demoted")
}

// A node that is demoted while it is down follows the new master after its restart.
func TestDemotionOfANodeThatIsDown(t *testing.T) {
	tr := RunWorld(t, WithFaults(replicatedWorld(0, Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		SleepUntil(4 * time.Second)
		err := locks.RedisClient(p.Env(), 1).Set(ctx, "k", "v", 0).Err()
		SleepUntil(10 * time.Second)
		return err
	})),
		Lasting(6*time.Second, At(time.Second, CrashOf("redis-1", trace.Kill))),
		At(2*time.Second, &sim.Promote{Node: "redis-2"}),
		At(3*time.Second, &sim.Demote{Node: "redis-1"}),
	))
	AllFaultsStruck(t, tr)
	copied := OnlyEvent(t, tr, trace.KindRestore, "redis-1")
	Equal(t, "the key copied to redis-1", copied.Key, "k")
	EqualTime(t, "the key is copied to redis-1", copied.At, 7*time.Second+3*Hop)
}

// A master with min-replicas-to-write accepts writes as long as it has heard from enough
// replicas. This applies to writes of clients and of scripts.
func TestMinReplicas(t *testing.T) {
	const (
		s       = time.Second
		refused = "-NOREPLICAS Not enough good replicas to write."
		writes  = `EVAL "return redis.call('SET',KEYS[1],'v')" 1 k`
		reads   = `EVAL "return redis.call('EXISTS',KEYS[1])" 1 k`
	)
	asks := map[time.Duration]string{s / 2: "SET k v", 2 * s: "SET k w", 4 * s: "SET k x", 9 * s / 2: "GET k", 5 * s: "DEL k", 11 * s / 2: reads, 6 * s: writes}
	_, got := demotionWorld(t, false, []string{"min-replicas-to-write=1", "min-replicas-max-lag=2s"}, asks)
	want := map[time.Duration]string{s / 2: "+OK", 2 * s: "+OK", 4 * s: refused, 9 * s / 2: "$1 w", 5 * s: refused, 11 * s / 2: ":1"}
	for at, answer := range want {
		Equal(t, "the answer to "+asks[at], got[at], answer)
	}
	if !strings.HasPrefix(got[6*s], refused) {
		t.Errorf("the answer to %s: got %s, want %s", asks[6*s], got[6*s], refused)
	}
	for _, wrong := range []string{"min-replicas-to-write=some", "min-replicas-to-write=-1", "min-replicas-max-lag=ten", "min-replicas-max-lag=0s"} {
		if system, _ := sim.LookupSystem("redis"); system.CheckSetting(wrong) == nil {
			t.Errorf("the setting %s is accepted, want an error", wrong)
		}
	}
}
