package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// staleWrite returns a world in which client-1 writes after its lease has ended: client-2
// has acquired the lock, read, written and released meanwhile. The storage decides whether
// client-1's write does harm.
func staleWrite(t *testing.T, s sim.Storage, faults ...sim.Fault) sim.Config {
	return sim.Config{
		Name: "stale", Seed: 1, Horizon: 5 * time.Minute,
		Network: sim.Network{Min: time.Millisecond, Max: time.Millisecond},
		Lock:    sim.Lock{Kind: ToyLock, Key: "resource", TTL: 30 * time.Second},
		Nodes:   Nodes("toy", 1),
		// client-1 writes through a proxy, which connects to the storage at the first
		// request. So an earlier crash of the storage resets no connection of client-1.
		Services: []sim.Service{{Name: "proxy"}},
		Clients: []sim.Client{
			{Name: "client-1", RetryEvery: time.Second, Does: []trace.Task{
				{Step: trace.Read, Object: trace.DefaultObject}, {Step: trace.Write, Object: trace.DefaultObject, Via: []string{"proxy"}},
			}},
			{Name: "client-2", RetryEvery: time.Second, Starts: Point("client-1's keys expired")},
		},
		Storage: s, Faults: faults,
	}
}

// beforeWrite is the moment just before a client's first write.
func beforeWrite(client string) trace.Trigger {
	return trace.Trigger{Before: trace.StepPoint{Client: client, Step: trace.Write}}
}

// A stale write does harm if the storage does not fence, or if a fault of the storage makes
// its policy fail.
func TestHarmOfAStaleWrite(t *testing.T) {
	paused := sim.Fault{Strikes: beforeWrite("client-1"), Until: Point("client-2 finished"), Action: &sim.Pause{Process: "client-1"}}
	pausedLonger := sim.Fault{Strikes: beforeWrite("client-1"), Until: Point("storage restarted"), Action: &sim.Pause{Process: "client-1"}}
	stalled := sim.Fault{Until: Point("client-2 finished"), Action: &sim.Stall{Client: "client-1"}}
	crash := func(how trace.Crash) sim.Fault {
		return sim.Fault{Strikes: trace.Trigger{When: Point("client-2 finished")}, For: time.Second, Action: &sim.CrashFault{Process: trace.StorageName, How: how}}
	}
	harm := []checks.Property{checks.WriteOrder, checks.NoLostUpdate, checks.SerialSections}
	for _, test := range []struct {
		name    string
		storage sim.Storage
		faults  []sim.Fault
		harm    []checks.Property // expected violated properties of the data
	}{
		{"no fencing", sim.Storage{Fencing: storage.None}, []sim.Fault{paused}, harm},
		{"a storage that cannot fence", sim.Storage{Fencing: storage.Unfenceable}, []sim.Fault{paused}, harm},
		{"fencing of writes", sim.Storage{Fencing: storage.Writes}, []sim.Fault{paused}, nil},
		{"fencing with a token for each shard", sim.Storage{Fencing: storage.PerShard}, []sim.Fault{paused}, nil},

		{"the token is on disk, and the storage crashes", sim.Storage{Fencing: storage.Writes}, []sim.Fault{pausedLonger, crash(trace.PowerLoss)}, nil},
		{"the token is in memory, and the storage does not crash", sim.Storage{Fencing: storage.VolatileToken}, []sim.Fault{paused}, nil},
		{"the token is in memory, and the storage crashes", sim.Storage{Fencing: storage.VolatileToken}, []sim.Fault{pausedLonger, crash(trace.Kill)}, harm},

		{"the storage checks and writes in one step, and the write stalls", sim.Storage{Fencing: storage.Writes}, []sim.Fault{stalled}, nil},
		{"the storage checks, then writes, and the write does not stall", sim.Storage{Fencing: storage.CheckThenWrite}, []sim.Fault{paused}, nil},
		{"the storage checks, then writes, and the write stalls", sim.Storage{Fencing: storage.CheckThenWrite}, []sim.Fault{stalled}, harm},

		{"a copy that is up to date takes over", sim.Storage{Fencing: storage.Writes}, []sim.Fault{pausedLonger, crash(trace.FailOver)}, nil},
		// client-2's write is lost before client-1's write arrives. So client-1's write
		// does not overwrite data of a newer grant.
		{"a copy that lacks the last write takes over", sim.Storage{Fencing: storage.Writes, CopyLag: time.Second}, []sim.Fault{pausedLonger, crash(trace.FailOver)},
			[]checks.Property{checks.NoLostUpdate, checks.SerialSections}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr, err := sim.Run(staleWrite(t, test.storage, test.faults...))
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range tr.Faults {
				if f.IdleReason != "" {
					t.Errorf("fault %d did not act: %s", i+1, f.IdleReason)
				}
			}
			v := checks.Check(history.New(tr), nil)
			var violated []checks.Property
			for _, p := range harm {
				if v.Finding(p).Outcome == checks.Violated {
					violated = append(violated, p)
				}
			}
			if !slices.Equal(violated, test.harm) {
				t.Errorf("the violated properties are %v, want %v", violated, test.harm)
				for _, p := range harm {
					t.Logf("%s: %+v", p, v.Finding(p))
				}
			}
			if safe := v.Verdict == checks.Safe; safe != (test.harm == nil) {
				t.Errorf("the verdict is %s; want safe: %t", v.Verdict, test.harm == nil)
			}
		})
	}
}
