package libraries_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// quorumWorld returns a world with a lock on three nodes. Every message takes a
// millisecond.
func quorumWorld(t *testing.T, kind string, clients ...sim.Client) sim.Config {
	cfg := world(t, kind, clients...)
	for i := range cfg.Clients {
		if cfg.Clients[i].RetryEvery == 0 {
			cfg.Clients[i].RetryEvery = time.Second
		}
	}
	cfg.Horizon = 5 * time.Minute
	cfg.Network = sim.Network{Min: time.Millisecond, Max: time.Millisecond}
	cfg.Nodes = []sim.Node{{Name: "redis-1"}, {Name: "redis-2"}, {Name: "redis-3"}}
	return cfg
}

// stepsOf returns the steps of a client, and those of its calls that were cancelled.
func stepsOf(tr *trace.Trace, client string) (steps, cancelled string) {
	var all, cancels []string
	for _, ev := range tr.Events {
		switch {
		case ev.Process != client:
		case ev.Kind == trace.KindCancel:
			cancels = append(cancels, fmt.Sprint(ev.Step, " ", ev.Section))
		case ev.Kind == trace.KindEnd:
			step := strings.TrimSpace(string(ev.Step) + " " + ev.Object)
			if !ev.OK {
				step += " failed"
			}
			all = append(all, step)
		}
	}
	return strings.Join(all, ", "), strings.Join(cancels, ", ")
}

// When a call of redsync is cancelled, it has already asked all nodes. But if a node
// replies that it does not know the script, the script is not sent again.
func TestCancelledCallsOfRedsync(t *testing.T) {
	for _, test := range []struct {
		client  sim.Client
		cancels string            // the point at which client-1 cancels its call
		cancel  string            // the call that is cancelled, with the number of its section
		steps   string            // what client-1 does
		keys    map[string]string // how its keys change, by node
	}{
		{
			cancels: "redis-2's reply to client-1's acquire arrived, 1st time", cancel: "acquire 1",
			steps: "acquire, read x, write x, release", keys: map[string]string{"redis-1": "set 1, delete 1", "redis-3": "set 1, delete 1"},
		},
		{
			client:  sim.Client{Works: 10 * time.Second, ExtendsEvery: 4 * time.Second},
			cancels: "client-1's extend request to redis-2 is in flight, 1st time", cancel: "extend 1",
			steps: "acquire, read x, extend failed, work failed, release", keys: map[string]string{"redis-2": "set 1, delete 1"},
		},
	} {
		test.client.Name, test.client.Cancels = "client-1", point(test.cancels)
		tr := runWithoutDoubts(t, quorumWorld(t, "redsync", test.client))
		if steps, cancel := stepsOf(tr, "client-1"); steps != test.steps || cancel != test.cancel {
			t.Errorf("%s: client-1's steps are %s, and it cancels %s; want %s, and %s", test.cancels, steps, cancel, test.steps, test.cancel)
		}
		for node, want := range test.keys {
			var changes []string
			for _, ev := range tr.Events {
				switch ev.Kind {
				case trace.KindSet, trace.KindTouch, trace.KindDelete, trace.KindExpire:
					if ev.Process == node {
						changes = append(changes, fmt.Sprint(ev.Kind, " ", ev.Owner.Section))
					}
				}
			}
			if got := strings.Join(changes, ", "); got != want {
				t.Errorf("%s: the changes of the key on %s are %s, want %s", test.cancels, node, got, want)
			}
		}
	}
}

// A cancellation and an answer can arrive at the same moment. The trace must not depend on
// which of them redsync's goroutines notice first.
func TestCancelIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, at := range []string{
		"redis-1's reply to client-1's acquire arrived, 1st time",
		"client-1's acquire request to redis-1 arrived",
		"client-1's release request to redis-1 is in flight",
		"redis-1's reply to client-1 arrived, 2nd time",
		"client-2 acquired",
	} {
		cfg := quorumWorld(t, "redsync",
			sim.Client{Name: "client-1", Sections: 2, Attempts: 5, Cancels: point(at), Works: 3 * time.Second, ExtendsEvery: time.Second},
			sim.Client{Name: "client-2", RetryEvery: 777 * time.Millisecond},
		)
		want := run(t, cfg)
		cfg.Disturb = func() {
			for range rand.IntN(4) {
				runtime.Gosched()
			}
		}
		for i := range 6 {
			runtime.GOMAXPROCS(1 << (i % 3))
			if got := run(t, cfg); got.Hash() != want.Hash() {
				t.Fatalf("%s: run %d differs: %s", at, i+1, trace.FirstDifference(want, got))
			}
		}
	}
}

// run runs a world. Its trace may have doubts.
func run(t *testing.T, cfg sim.Config) *trace.Trace {
	t.Helper()
	tr, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A program that makes the calls of an ordinary client by hand has the same trace as the
// client, event by event. This is true also of a lock that has its own goroutines.
func TestProgramHasTheTraceOfAClient(t *testing.T) {
	const nap = 4 * time.Second
	byHand := func(ctx context.Context, p *sim.Program) error {
		for range 2 {
			in, err := p.Acquire(ctx, p.Lock())
			for ; err != nil; in, err = p.Acquire(ctx, p.Lock()) {
				if err := p.Sleep(time.Second); err != nil {
					return err
				}
			}
			if err = in.Read(ctx, "x"); err == nil {
				err = p.Step(trace.Work, func() (err error) {
					for i := range 3 {
						if i > 0 && err == nil {
							err = in.Extend(ctx)
						}
						if err == nil {
							err = p.Sleep(nap)
						}
					}
					return err
				})
			}
			if err == nil {
				err = in.Write(ctx, "x")
			}
			_ = in.Release(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	}
	other := sim.Client{Name: "client-2", Works: 3 * nap, Starts: point("client-1 acquired")}
	cfg := quorumWorld(t, "redsync", sim.Client{Name: "client-1", Sections: 2, Works: 3 * nap, ExtendsEvery: nap}, other)
	cfg.Network.Max = 3 * time.Millisecond
	cfg.Lock.TTL = 10 * time.Second
	cfg.Faults = []sim.Fault{{
		Strikes: trace.Trigger{When: point("client-1 acquired, 2nd time")}, For: 20 * time.Second,
		Action: &sim.Pause{Process: "client-1"}, Text: "pause client-1",
	}}
	want := run(t, cfg)
	cfg.Clients[0] = sim.Client{Name: "client-1", Run: byHand}
	if got := run(t, cfg); got.Hash() != want.Hash() {
		t.Errorf("the program's trace differs from the client's: %s", trace.FirstDifference(want, got))
	}
	if steps, _ := stepsOf(want, "client-1"); strings.Count(steps, ",") < 7 {
		t.Errorf("client-1 did only %s, want at least eight steps", steps)
	}
}
