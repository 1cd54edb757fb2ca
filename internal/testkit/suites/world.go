package suites

import (
	"testing"
	"time"

	_ "github.com/locksim/locksim/servers/redis"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// World returns a simulated world with a lock of some kind, one Redis node and some
// clients.
func World(t *testing.T, kind string, clients ...sim.Client) sim.Config {
	t.Helper()
	return sim.Config{
		Name: kind, Seed: 1, Horizon: 10 * time.Minute,
		Lock:    sim.Lock{Kind: simtest.Lock(t, kind), Key: Key, TTL: TTL},
		Network: sim.Network{Min: time.Millisecond, Max: 5 * time.Millisecond},
		Nodes:   []sim.Node{{Name: "redis-1"}},
		Clients: clients,
		Storage: sim.Storage{Fencing: storage.None},
	}
}

// RunWithoutDoubts runs a world. The test fails if there is an error, or a reason to doubt
// what the run shows.
func RunWithoutDoubts(t *testing.T, cfg sim.Config) *trace.Trace {
	t.Helper()
	tr := simtest.RunWorld(t, cfg)
	for _, doubt := range tr.Doubts {
		t.Error(doubt)
	}
	return tr
}

// TimedFault returns a fault that strikes at a time and ends after a while.
func TimedFault(at, lasts time.Duration, a sim.Action) sim.Fault {
	return simtest.Lasting(lasts, simtest.At(at, a))
}

// FirstStepEnd returns the event with which a client's first step of a kind ends, which has
// the result.
func FirstStepEnd(t *testing.T, tr *trace.Trace, client string, s trace.Step) trace.Event {
	t.Helper()
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindEnd && ev.Process == client && ev.Step == s {
			return ev
		}
	}
	t.Fatalf("%s never finished %s", client, s)
	return trace.Event{}
}

// LongWork returns a world in which client-1 works for four TTLs while client-2 waits for
// the lock.
func LongWork(t *testing.T, kind string) sim.Config {
	return World(t, kind,
		sim.Client{Name: "client-1", Works: 4 * TTL},
		sim.Client{Name: "client-2", RetryEvery: 5 * time.Second, Starts: simtest.Point("client-1 acquired")})
}
