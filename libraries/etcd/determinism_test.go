package etcd_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

var repeats = flag.Int("repeats", 10, "how often TestDeterminism repeats each world on each number of threads")

// gcPause is a world of two clients, of which the first is paused just before it writes.
func gcPause(t testing.TB, name string, members int, faults ...sim.Fault) sim.Config {
	k := lockKind(t, name)
	if faults == nil {
		faults = []sim.Fault{Until("client-2 finished", Before("client-1 write", PauseOf("client-1")))}
	}
	return sim.Config{
		Name: "gc-pause", Seed: 1, Horizon: 5 * time.Minute,
		Network: sim.Network{Min: 200 * time.Microsecond, Max: time.Millisecond},
		Lock:    sim.Lock{Kind: k, Key: "lock", TTL: 10 * time.Second},
		Nodes:   Nodes("etcd", members),
		Clients: []sim.Client{
			{Name: "client-1", RetryEvery: time.Second},
			{Name: "client-2", RetryEvery: time.Second, Starts: Point("client-1 acquired")},
		},
		Storage: sim.Storage{Fencing: storage.Writes},
		Faults:  faults,
	}
}

// Equal worlds have equal traces on one, two and four threads, even while goroutines yield
// at random.
func TestDeterminism(t *testing.T) {
	for _, members := range []int{1, 3} {
		for _, name := range lockNames() {
			t.Run(fmt.Sprintf("%s, %d members", name, members), func(t *testing.T) {
				checkDeterminism(t, gcPause(t, name, members))
			})
		}
		for name, faults := range wakingFaults(members) {
			t.Run(fmt.Sprintf("%s, %d members", name, members), func(t *testing.T) {
				checkDeterminism(t, gcPause(t, "etcd", members, faults...))
			})
		}
	}
}

// A process with many sessions renews all of them on one stream, so its goroutines have
// many things to do at the same time. The flag -short skips the test.
func TestDeterminismOfManySessions(t *testing.T) {
	if testing.Short() {
		t.Skip("this test repeats each world many times")
	}
	for _, members := range []int{1, 3} {
		for name, faults := range wakingFaults(members) {
			t.Run(fmt.Sprintf("%s, %d members", name, members), func(t *testing.T) {
				cfg := gcPause(t, "etcd", members, faults...)
				for i := range faults { // there are no sections that could reach the points of the faults
					faults[i].Strikes = trace.Trigger{At: time.Second}
				}
				cfg.Clients = []sim.Client{{Name: "client-1", Run: manyLocks}, {Name: "client-2", Run: manyLocks}}
				checkDeterminism(t, cfg)
			})
		}
	}
}

// manyLocks is a program that acquires many locks, holds all of them, releases them and
// begins again.
func manyLocks(ctx context.Context, p *sim.Program) error {
	k, _ := locks.Lookup("etcd")
	var handles []locks.Lock
	for i := range 5 {
		l, err := k.New(p.Env().ForKey(fmt.Sprint("lock-", i)))
		if err != nil {
			return err
		}
		handles = append(handles, l)
	}
	for range 3 {
		var leases []locks.Lease
		for _, l := range handles {
			attempt, cancel := context.WithTimeout(ctx, 15*time.Second)
			if lease, err := l.Acquire(attempt); err == nil {
				leases = append(leases, lease)
			}
			cancel()
		}
		time.Sleep(7 * time.Second)
		for _, lease := range leases {
			attempt, cancel := context.WithTimeout(ctx, 15*time.Second)
			_ = lease.Release(attempt)
			cancel()
		}
	}
	return nil
}

// wakingFaults returns faults after which many of the client's goroutines run at the same
// time.
func wakingFaults(members int) map[string][]sim.Fault {
	var all []string
	for _, n := range Nodes("etcd", members) {
		all = append(all, n.Name)
	}
	cutOff := func(client string) sim.Fault {
		return Lasting(30*time.Second, When("client-1 acquired", &sim.Partition{Process: client, From: all}))
	}
	return map[string][]sim.Fault{
		"client-1 cut off":       {Lasting(30*time.Second, Before("client-1 write", &sim.Partition{Process: "client-1", From: all}))},
		"both clients cut off":   {cutOff("client-1"), cutOff("client-2")},
		"crash of a member":      {Lasting(5*time.Second, When("client-1 acquired", CrashOf("etcd-1", trace.Kill)))},
		"power loss of a member": {Lasting(20*time.Second, When("client-1 acquired", CrashOf("etcd-1", trace.PowerLoss)))},
		"paused member":          {Lasting(20*time.Second, When("client-1 acquired", PauseOf("etcd-1")))},
		"crash of a client":      {Lasting(20*time.Second, When("client-1 acquired", CrashOf("client-1", trace.Kill)))},
		"broken connection":      {When("client-1 acquired", &sim.Reset{Process: "client-2", From: "etcd-1"})},
	}
}

// checkDeterminism runs a world several times. It fails the test if the traces differ or
// have doubts.
func checkDeterminism(t *testing.T, cfg sim.Config) {
	t.Helper()
	if doubts := Repeat(t, cfg, 3**repeats).Doubts; len(doubts) > 0 {
		t.Error(doubts)
	}
}
