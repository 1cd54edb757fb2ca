package redis_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// sectionsWorld returns a world in which clients acquire and release a lock on some nodes
// by themselves.
func sectionsWorld(t *testing.T, nodes int, kind string, clients ...sim.Client) sim.Config {
	cfg := SectionsWorld(Lock(t, kind), clients...)
	cfg.Nodes = Nodes("redis", nodes)
	return cfg
}

// go-redis checks whether a context was cancelled before it sends a command. While it waits
// for the answer, it only checks the deadline. So a call that is cancelled meanwhile still
// completes its current command. A lock that needs only one command acquires or releases as
// if it were not cancelled.
func TestCancel(t *testing.T) {
	for _, test := range []struct {
		name    string
		nodes   int
		kind    string // of lock
		cancels string // the point at which the client cancels its call
		client  sim.Client
		cancel  string            // the step that is cancelled, and its section
		steps   string            // of the client
		keys    map[string]string // for each node, what happens to its key, and in which section
	}{
		{
			name: "an acquire of one command", nodes: 1, kind: "single",
			cancels: "client-1's acquire request to redis-1 is in flight", cancel: "acquire 1",
			steps: "acquire, read x, write x, release", keys: map[string]string{"redis-1": "set 1, delete 1"},
		},
		{
			// The cancelled acquire asks no further node, and removes the key that it has
			// set on the first.
			name: "an acquire that asks node by node", nodes: 3, kind: "redlock",
			cancels: "client-1's acquire request to redis-1 is in flight, 1st time", cancel: "acquire 1",
			steps: "acquire failed, acquire, read x, write x, release",
			keys:  map[string]string{"redis-1": "set 1, delete 1, set 2, delete 2", "redis-2": "set 2, delete 2", "redis-3": "set 2, delete 2"},
		},
		{
			name: "the second extend of a lease", nodes: 1, kind: "single", client: sim.Client{Works: 10 * time.Second, ExtendsEvery: 4 * time.Second},
			cancels: "client-1's extend request to redis-1 is in flight, 3rd time", cancel: "extend 1",
			steps: "acquire, read x, extend, extend, work, write x, release", keys: map[string]string{"redis-1": "set 1, touch 1, touch 1, delete 1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := test.client
			client.Name, client.Cancels = "client-1", Point(test.cancels)
			tr := RunWorld(t, sectionsWorld(t, test.nodes, test.kind, client))
			Equal(t, "the cancelled step and its section", Cancels(tr, "client-1"), test.cancel)
			Equal(t, "the steps of the client", Steps(tr, "client-1"), test.steps)
			for node, want := range test.keys {
				Equal(t, "the key on "+node, KeyHistory(tr, node), want)
			}
			Equal(t, "the doubts of the run", strings.Join(tr.Doubts, "; "), "")
		})
	}
}

// A cancellation and an answer can arrive at the same moment. The run must not depend on
// which of the lock's goroutines notices which of them first.
func TestCancelIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range []string{"redlock", "watchdog"} {
		for _, at := range []string{
			"redis-1's reply to client-1's acquire arrived, 1st time",
			"client-1's acquire request to redis-1 arrived",
			"client-1's release request to redis-1 is in flight",
			"redis-1's reply to client-1 arrived, 2nd time",
			"client-2 acquired",
		} {
			cfg := sectionsWorld(t, 3, kind,
				sim.Client{Name: "client-1", Sections: 2, Attempts: 5, Cancels: Point(at), Works: 3 * time.Second, ExtendsEvery: map[bool]time.Duration{true: time.Second}[kind != "watchdog"]},
				sim.Client{Name: "client-2", RetryEvery: 777 * time.Millisecond},
			)
			if kind == "redlock" {
				cfg.Lock.Options = locks.Options{Ask: locks.AllAtOnce, Clock: fakeclock.Wall}
			}
			want := RunWorld(t, cfg)
			cfg.Disturb = YieldRandomly
			for i := range 6 {
				runtime.GOMAXPROCS(1 << (i % 3))
				if got := RunWorld(t, cfg); got.Hash() != want.Hash() {
					t.Fatalf("%s, cancelled when %s: run %d differs: %s", kind, at, i+1, trace.FirstDifference(want, got))
				}
			}
		}
	}
}
