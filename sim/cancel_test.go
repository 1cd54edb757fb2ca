package sim_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/trace"
)

// quorumOf is the world of sections with a lock on three nodes.
func quorumOf(t *testing.T, kind string, clients ...sim.Client) sim.Config {
	cfg := sections(t, kind, clients...)
	cfg.Nodes = []sim.Node{{Name: "redis-1", System: "redis"}, {Name: "redis-2", System: "redis"}, {Name: "redis-3", System: "redis"}}
	return cfg
}

// keyHistory tells what became of the lock's key on a node, and for which of
// client-1's sections.
func keyHistory(tr *trace.Trace, node string) string {
	var told []string
	for _, ev := range tr.Events {
		switch ev.Kind {
		case trace.KindSet, trace.KindTouch, trace.KindDelete, trace.KindExpire:
			if ev.Process == node {
				told = append(told, fmt.Sprint(ev.Kind, " ", ev.Owner.Section))
			}
		}
	}
	return strings.Join(told, ", ")
}

// go-redis looks at a context before it sends a command, and while it waits for
// the answer only at the deadline. So what a cancelled call still does depends on
// the lock: one with a single command ends as if nothing had happened.
func TestCancel(t *testing.T) {
	for _, test := range []struct {
		name    string
		world   func(*testing.T, string, ...sim.Client) sim.Config
		kind    string
		cancels string
		client  sim.Client
		cancel  string // the step and section
		steps   string
		keys    map[string]string
	}{
		{
			name: "an acquire of one command", world: sections, kind: "single",
			cancels: "client-1's acquire request to redis-1 is in flight", cancel: "acquire 1",
			steps: "acquire, read x, write x, release", keys: map[string]string{"redis-1": "set 1, delete 1"},
		},
		{
			// It asks no other node, and removes what the first has granted.
			name: "an acquire that asks node by node", world: quorumOf, kind: "redlock",
			cancels: "client-1's acquire request to redis-1 is in flight, 1st time", cancel: "acquire 1",
			steps: "acquire failed, acquire, read x, write x, release",
			keys:  map[string]string{"redis-1": "set 1, delete 1, set 2, delete 2", "redis-2": "set 2, delete 2", "redis-3": "set 2, delete 2"},
		},
		{
			name: "each of three attempts", world: quorumOf, kind: "redlock", client: sim.Client{Attempts: 3},
			cancels: "client-1's acquire request to redis-1 arrived", cancel: "acquire 1, acquire 2, acquire 3",
			steps: "acquire failed, acquire failed, acquire failed", keys: map[string]string{"redis-1": "set 1, delete 1, set 2, delete 2, set 3, delete 3", "redis-2": ""},
		},
		{
			// All were asked by then.
			name: "an acquire that asks all nodes at once", world: quorumOf, kind: "redsync",
			cancels: "redis-2's reply to client-1's acquire arrived, 1st time", cancel: "acquire 1",
			steps: "acquire, read x, write x, release", keys: map[string]string{"redis-1": "set 1, delete 1", "redis-3": "set 1, delete 1"},
		},
		{
			// The script is not known to any node, and is not sent.
			name: "an extend", world: quorumOf, kind: "redsync", client: sim.Client{Works: 10 * time.Second, ExtendsEvery: 4 * time.Second},
			cancels: "client-1's extend request to redis-2 is in flight, 1st time", cancel: "extend 1",
			steps: "acquire, read x, extend failed, work failed, release", keys: map[string]string{"redis-2": "set 1, delete 1"},
		},
		{
			name: "the second extend", world: sections, kind: "single", client: sim.Client{Works: 10 * time.Second, ExtendsEvery: 4 * time.Second},
			cancels: "client-1's extend request to redis-1 is in flight, 3rd time", cancel: "extend 1",
			steps: "acquire, read x, extend, extend, work, write x, release", keys: map[string]string{"redis-1": "set 1, touch 1, touch 1, delete 1"},
		},
		{
			// The key stands until its time is up, and only then can it be set again.
			name: "a release, and the client goes on", world: sections, kind: "single", client: sim.Client{Sections: 2, RetryEvery: 20 * time.Second},
			cancels: "client-1's release request to redis-1 is in flight, 1st time", cancel: "release 1",
			steps: "acquire, read x, write x, release failed, acquire failed, acquire failed, acquire, read x, write x, release",
			keys:  map[string]string{"redis-1": "set 1, expire 1, set 4, delete 4"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := test.client
			client.Name, client.Cancels = "client-1", Point(test.cancels)
			tr := Play(t, test.world(t, test.kind, client))
			var cancels []string
			for _, ev := range Events(tr, trace.KindCancel, "client-1") {
				cancels = append(cancels, fmt.Sprint(ev.Step, " ", ev.Section))
			}
			Same(t, "what it cancels", strings.Join(cancels, ", "), test.cancel)
			Same(t, "its steps", steps(tr, "client-1"), test.steps)
			for node, want := range test.keys {
				Same(t, "the key on "+node, keyHistory(tr, node), want)
			}
			Same(t, "doubts", strings.Join(tr.Doubts, "; "), "")
		})
	}
}

// Cancelling recalls nothing: a command that is under way arrives, when its client
// has long gone on, and even its next lease is over.
func TestCancelRecallsNothing(t *testing.T) {
	cfg := quorumOf(t, "redlock", sim.Client{
		Name: "client-1", Cancels: Point("client-1's acquire request to redis-1 is in flight, 1st time"), Works: 40 * time.Second,
	})
	hold := &sim.Hold{Message: trace.NthMessage{Message: trace.Message{Client: "client-1", Peer: "redis-1", Step: trace.Acquire}, Nth: 1}}
	cfg.Faults = []sim.Fault{{Action: hold, For: 35 * time.Second}}
	tr := Play(t, cfg)
	Same(t, "its steps", steps(tr, "client-1"), "acquire failed, acquire, read x, work, write x, release failed")
	Same(t, "the key on redis-1", keyHistory(tr, "redis-1"), "set 2, expire 2, set 1")
	late := Events(tr, trace.KindSet, "redis-1")[1]
	About(t, "the first attempt's command arrives", late.At, 35*time.Second+Hop)
}

// A paused client cancels when it goes on.
func TestCancelOfAPausedClient(t *testing.T) {
	const asks = "client-1's acquire request to redis-1 is in flight, 1st time"
	cfg := quorumOf(t, "redlock", sim.Client{Name: "client-1", Cancels: Point("500us after " + asks)})
	cfg.Faults = []sim.Fault{{Action: &sim.Pause{Process: "client-1"}, Strikes: trace.Trigger{When: Point(asks)}, For: time.Second}}
	tr := Play(t, cfg)
	cancels, resumes := Events(tr, trace.KindCancel, "client-1"), Events(tr, trace.KindResume, "client-1")
	if len(cancels) != 1 || len(resumes) != 1 {
		t.Fatalf("it cancels %d times and resumes %d times", len(cancels), len(resumes))
	}
	About(t, "it resumes", resumes[0].At, time.Second)
	About(t, "it cancels", cancels[0].At, time.Second)
	Same(t, "its steps", steps(tr, "client-1"), "acquire failed, acquire, read x, write x, release")
}

// A client that was to cancel a call and never did says so: the run is not about
// what its story is about.
func TestNothingToCancel(t *testing.T) {
	for when, doubt := range map[string]string{
		"client-1's acquire request to redis-1 arrived":          "",
		"client-1 acquired":                                      "client-1 never cancelled a call of its lock: it does so when client-1 acquired", // the call is over
		"storage applied client-1's write":                       "client-1 never cancelled a call of its lock: it does so when storage applied client-1's write",
		"client-1 extended":                                      "client-1 never cancelled a call of its lock: it does so when client-1 extended",
		"1s after client-1's acquire request to redis-1 arrived": "client-1 never cancelled a call of its lock: it does so when 1s after client-1's acquire request to redis-1 arrived",
	} {
		tr := Play(t, sections(t, "single", sim.Client{Name: "client-1", Cancels: Point(when), Works: 10 * time.Second}))
		Same(t, when, strings.Join(tr.Doubts, "; "), doubt)
		witness, err := trace.ParseWitness("client-1 cancelled")
		if err != nil {
			t.Fatal(err)
		}
		Same(t, when+": a witness", history.Seen(witness, tr), doubt == "")
	}
}

// Which of a lock's goroutines hears first of the cancellation, and which of the
// answer that comes at the same moment, must not show.
func TestCancelIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range []string{"redlock", "redsync", "watchdog"} {
		for _, at := range []string{
			"redis-1's reply to client-1's acquire arrived, 1st time",
			"client-1's acquire request to redis-1 arrived",
			"client-1's release request to redis-1 is in flight",
			"redis-1's reply to client-1 arrived, 2nd time",
			"client-2 acquired",
		} {
			cfg := quorumOf(t, kind,
				sim.Client{Name: "client-1", Sections: 2, Attempts: 5, Cancels: Point(at), Works: 3 * time.Second, ExtendsEvery: map[bool]time.Duration{true: time.Second}[kind != "watchdog"]},
				sim.Client{Name: "client-2", RetryEvery: 777 * time.Millisecond},
			)
			if kind == "redlock" {
				cfg.Lock.Options = locks.Options{Ask: locks.AllAtOnce, Clock: fakeclock.Wall}
			}
			want := Play(t, cfg)
			cfg.Disturb = func() {
				for range rand.IntN(4) {
					runtime.Gosched()
				}
			}
			for i := range 6 {
				runtime.GOMAXPROCS(1 << (i % 3))
				if got := Play(t, cfg); got.Hash() != want.Hash() {
					t.Fatalf("%s, %s: run %d differs: %s", kind, at, i+1, trace.FirstDifference(want, got))
				}
			}
		}
	}
}
