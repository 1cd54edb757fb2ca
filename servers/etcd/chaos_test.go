package etcd_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/etcd"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// chaos is a world of several members, each with clients, which compete for one lock.
// Faults of all kinds strike the members and the links between them. The faults end before
// the world does.
func chaos(seed uint64) sim.Config {
	random := rand.New(rand.NewPCG(seed, 0))
	kind := mutexBy(0, 0)
	kind.System = "etcd-spied"
	members := 3 + 2*random.IntN(2)
	newMutex := kind.New
	kind.New = func(env *locks.Env) (locks.Lock, error) {
		client := 1 // the client called watchman has this number too
		_, _ = fmt.Sscanf(env.Client, "client-%d", &client)
		env.Nodes = []string{env.Nodes[(client-1)%len(env.Nodes)]}
		return newMutex(env)
	}
	cfg := sim.Config{
		Name: "chaos", Seed: seed, Horizon: 4 * time.Minute,
		Network: sim.Network{Min: 200 * time.Microsecond, Max: 20 * time.Millisecond},
		Lock:    sim.Lock{Kind: kind, Key: "/lock", TTL: 5 * time.Second},
		Nodes:   Nodes("etcd-spied", members),
		Storage: sim.Storage{Fencing: storage.Writes},
	}
	for i := range 3 {
		cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i+1), RetryEvery: time.Second, Works: time.Duration(random.IntN(5)) * time.Second, Sections: 4})
	}
	cfg.Clients = append(cfg.Clients, sim.Client{Name: "watchman", Run: func(context.Context, *sim.Program) error {
		SleepUntil(3 * time.Minute) // by then all members have caught up
		return nil
	}})
	member := func() string { return cfg.Nodes[random.IntN(members)].Name }
	for range 1 + random.IntN(5) {
		one, other := member(), member()
		for other == one {
			other = member()
		}
		var action sim.Action
		switch random.IntN(7) {
		case 0:
			action = CrashOf(one, []trace.Crash{trace.Kill, trace.PowerLoss, trace.Shutdown}[random.IntN(3)])
		case 1:
			action = PauseOf(one)
		case 2:
			action = SuspensionOf(one)
		case 3:
			action = cutOff(one, other)
		case 4:
			var others []string
			for _, n := range cfg.Nodes {
				if n.Name != one {
					others = append(others, n.Name)
				}
			}
			action = cutOff(one, others...)
		case 5:
			action = &sim.Delay{Process: one, To: other, By: time.Duration(1+random.IntN(3000)) * time.Millisecond}
		case 6:
			action = &sim.Drift{Process: one, Rate: sim.Rate(random.IntN(900_000_000) - 450_000_000)}
		}
		begins := time.Duration(random.IntN(30_000)) * time.Millisecond
		cfg.Faults = append(cfg.Faults, Lasting(time.Duration(1+random.IntN(25_000))*time.Millisecond, At(begins, action)))
	}
	return cfg
}

// In every world of chaos, members that have applied the same entries have the same state. In
// the end all members have applied all entries. Unless a clock drifts, no client believes
// that it holds a lease that the cluster has given to another client.
func TestChaos(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 40
	}
	writes := 0
	for seed := range seeds {
		etcd.SpiedMembers = nil
		cfg := chaos(seed)
		tr := RunWorld(t, cfg)
		var faults []string
		drifts := false
		for _, f := range cfg.Faults {
			faults = append(faults, f.Text)
			drifts = drifts || strings.Contains(f.Text, "Rate")
		}
		states := map[uint64]string{}
		for _, m := range etcd.SpiedMembers {
			if was, ok := states[etcd.Applied(m)]; ok && was != etcd.DumpState(m) {
				t.Errorf("seed %d (%q): members differ after entry %d: one has the state %s\nand another %s", seed, faults, etcd.Applied(m), was, etcd.DumpState(m))
			}
			states[etcd.Applied(m)] = etcd.DumpState(m)
		}
		if len(states) != 1 {
			t.Errorf("seed %d (%q): the members have applied different numbers of entries", seed, faults)
		}
		if broken := Violations(tr); strings.Contains(broken, "lease-exclusion") && !drifts {
			t.Errorf("seed %d (%q): violated properties: %s", seed, faults, broken)
		}
		for _, doubt := range tr.Doubts {
			t.Errorf("seed %d (%q): the run has the doubt %q, want none", seed, faults, doubt)
		}
		for _, c := range cfg.Clients {
			writes += strings.Count(Steps(tr, c.Name), "write x")
		}
	}
	if least := int(seeds) * 4; writes < least {
		t.Errorf("%d writes in %d worlds, want at least %d", writes, seeds, least)
	}
}
