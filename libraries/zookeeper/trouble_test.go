package zookeeper_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

var troubles = flag.Uint64("troubles", 60, "on how many seeds TestTroubles is run; at most 12 with -short")

// faultyWorld returns a world of three servers and three clients. Random faults strike,
// each for a while. After the last fault has ended, there is time left.
func faultyWorld(t testing.TB, kind string, seed uint64) sim.Config {
	random := rand.New(rand.NewPCG(seed, 0))
	cfg := world(t, kind, 3)
	cfg.Seed, cfg.Horizon = seed, 10*time.Minute
	for i := range 3 {
		cfg.Clients = append(cfg.Clients, sim.Client{
			Name: fmt.Sprint("client-", i+1), Sections: 4, RetryEvery: time.Second,
			Works: time.Duration(random.IntN(10)) * time.Second,
		})
	}
	for range 1 + random.IntN(4) {
		server := fmt.Sprint("zookeeper-", 1+random.IntN(3))
		other := fmt.Sprint("zookeeper-", 1+random.IntN(3))
		client := fmt.Sprint("client-", 1+random.IntN(3))
		actions := []sim.Action{
			CrashOf(server, trace.Kill), CrashOf(server, trace.PowerLoss), PauseOf(server), SuspensionOf(server),
			PauseOf(client), &sim.Partition{Process: client, From: []string{server}},
			&sim.Delay{Process: client, To: server, By: 20 * time.Millisecond},
			&sim.Jump{Process: server, By: time.Duration(random.IntN(100)-200) * time.Second},
			&sim.Reset{Process: client, From: server},
		}
		if other != server {
			actions = append(actions, cutOff(server, other), &sim.Delay{Process: server, To: other, By: 50 * time.Millisecond}, &sim.Reset{Process: server, From: other})
		}
		at := time.Duration(random.IntN(60_000)) * time.Millisecond
		f := At(at, actions[random.IntN(len(actions))])
		switch f.Action.(type) {
		case *sim.Jump, *sim.Reset:
		default:
			f = Lasting(time.Duration(1+random.IntN(40_000))*time.Millisecond, f)
		}
		cfg = WithFaults(cfg, f)
	}
	return cfg
}

// Whatever faults strike an ensemble, it works after they have ended. It grants the lock to
// one client at a time, and equal worlds have equal traces.
func TestTroubles(t *testing.T) {
	seeds := *troubles
	if testing.Short() {
		seeds = min(seeds, 12)
	}
	for seed := range seeds {
		for _, kind := range kinds {
			cfg := faultyWorld(t, kind, seed)
			tr := RunWorld(t, cfg)
			oneAtATime(t, seed, tr)
			cfg.Disturb = YieldRandomly
			if again := RunWorld(t, cfg); again.Hash() != tr.Hash() {
				t.Fatalf("%s, seed %d: %s", kind, seed, trace.FirstDifference(tr, again))
			}
			if led := Events(tr, trace.KindLead, "zookeeper-3"); len(led) == 0 {
				t.Errorf("%s, seed %d: zookeeper-3 has never led, want that it leads in the beginning", kind, seed)
			}
			if DependsOnChance(tr) {
				t.Errorf("%s, seed %d: %v", kind, seed, tr.Doubts)
			}
		}
	}
}

// oneAtATime checks that, according to the servers' events, the lock never has two holders.
func oneAtATime(t *testing.T, seed uint64, tr *trace.Trace) {
	t.Helper()
	holder := ""
	for _, ev := range tr.Events {
		switch ev.Kind {
		case trace.KindSet:
			if holder != "" {
				t.Errorf("seed %d: event %d grants the lock to %s while %s holds it", seed, ev.Seq, ev.Value, holder)
			}
			holder = ev.Value
		case trace.KindDelete, trace.KindExpire:
			if holder != ev.Value {
				t.Errorf("seed %d: event %d takes the lock from %s, and its holder is %s", seed, ev.Seq, ev.Value, holder)
			}
			holder = ""
		}
	}
}
