package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// fakeRecord returns a record as if a base had been run. One client after the other
// acquires, reads, works, writes and releases. Meanwhile each node gets requests and
// answers them.
func fakeRecord(clients, nodes int) *Record {
	r := &Record{Lock: "redlock", System: "redis", TTL: 30 * time.Second}
	for i := range nodes {
		r.Nodes = append(r.Nodes, fmt.Sprintf("redis-%d", i+1))
	}
	for i := range clients {
		c := fmt.Sprintf("client-%d", i+1)
		r.Clients = append(r.Clients, c)
		ask := func(peer string, step trace.Step) {
			request := trace.Message{Client: c, Peer: peer, Step: step}
			reply := request
			reply.Reply = true
			r.Points = append(r.Points,
				InjectionPoint{Process: c, Strikes: trace.Trigger{When: request.InFlight(0)}},
				InjectionPoint{Process: peer, Strikes: trace.Trigger{When: request.Arrived(0)}},
				InjectionPoint{Process: peer, Strikes: trace.Trigger{When: reply.InFlight(0)}},
				InjectionPoint{Process: c, Strikes: trace.Trigger{When: reply.Arrived(0)}})
			for _, m := range []trace.Message{request, reply} {
				r.Messages = append(r.Messages, Message{NthMessage: trace.NthMessage{Message: m}})
			}
		}
		for _, step := range []trace.Step{trace.Acquire, trace.Read, trace.Work, trace.Write, trace.Release} {
			r.Points = append(r.Points, InjectionPoint{Process: c, Strikes: trace.Trigger{Before: trace.StepPoint{Client: c, Step: step}}})
			switch {
			case step == trace.Acquire || step == trace.Release:
				for _, node := range r.Nodes {
					ask(node, step)
				}
			case step.AtStorage():
				ask(trace.StorageName, step)
			}
		}
	}
	return r
}

// pointIndex returns when a fault strikes, as the index of its point in the record. It is
// -1 for the start of the run.
func (r *Record) pointIndex(f runs.Fault) int {
	return slices.IndexFunc(r.Points, func(p InjectionPoint) bool { return p.Strikes.Equal(f.Strikes) })
}

// stepIndex returns the index of the point at which a client's step begins.
func (r *Record) stepIndex(step string) int { return r.pointIndex(item{Before: step}.fault()) }

// findFault returns the fault of a kind that acts on a target, and whether the world has
// one.
func findFault(w runs.WorldSpec, kind, target string) (runs.Fault, bool) {
	i := slices.IndexFunc(w.Faults, func(f runs.Fault) bool { return f.Parameters().Kind == kind && f.Parameters().Target == target })
	if i < 0 {
		return runs.Fault{}, false
	}
	return w.Faults[i], true
}

// startAt returns the change that makes a client start at a point.
func startAt(client, at string) map[string]trace.Point {
	return map[string]trace.Point{client: point(at)}
}

// takesPart reports whether the world has a client.
func takesPart(w runs.WorldSpec, client string) bool {
	return w.Change.Clients == nil || slices.Contains(w.Change.Clients, client)
}

var (
	// The results of four worlds: something breaks, nothing breaks, the run with fencing is
	// inconclusive, and a paused process runs on. brokenDamage is the damage of brokenResult.
	brokenResult   = runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: "serial-sections"}}}}
	brokenDamage   = allDamage(brokenResult)
	unbrokenResult = runs.WorldResult{}
	doubtfulResult = runs.WorldResult{Off: brokenResult.Off, On: runs.RunResult{Doubt: "the fault did not act"}}
	ranOnResult    = runs.WorldResult{Off: runs.RunResult{Breaks: brokenResult.Off.Breaks, RanOn: true}}
)

// A fakeRunner is a runner of worlds with a planted cause: something breaks in a world exactly
// if the cause is there.
type fakeRunner struct {
	outcome func(runs.WorldSpec) runs.WorldResult // the result of a world
	worlds  int                                   // how many worlds were run
}

// newFakeRunner returns a runner: something breaks in its worlds exactly if cause is true.
func newFakeRunner(cause func(runs.WorldSpec) bool) *fakeRunner {
	return &fakeRunner{outcome: func(w runs.WorldSpec) runs.WorldResult {
		if cause(w) {
			return brokenResult
		}
		return unbrokenResult
	}}
}

func (p *fakeRunner) Run(_ context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
	p.worlds++
	return p.outcome(w), nil
}

// checkShrink fails the test unless shrinking the world from results in exactly the world
// want, and runs at most so many worlds.
func (p *fakeRunner) checkShrink(t *testing.T, rec *Record, from, want runs.WorldSpec, atMost int) {
	t.Helper()
	original := from.Key()
	got, err := shrink(t.Context(), p, rec, from, brokenDamage)
	if err != nil {
		t.Fatal(err)
	}
	if !sameWorld(got, want) {
		t.Errorf("shrunk to\n%s\nwant\n%s", got.Key(), want.Key())
	}
	if p.worlds > atMost {
		t.Errorf("%d worlds were run, want at most %d", p.worlds, atMost)
	}
	if from.Key() != original {
		t.Errorf("the world that was to be shrunk is now\n%s\nit was\n%s", from.Key(), original)
	}
}

// Something breaks if client-1 is paused for long at its step read or later, and client-2
// asks in time.
func TestShrinkPause(t *testing.T) {
	rec := fakeRecord(3, 5)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		pause, ok := findFault(w, "pause", "client-1")
		return ok && pause.For >= 29880*time.Millisecond &&
			rec.pointIndex(pause) >= rec.stepIndex("client-1 read") && rec.pointIndex(pause) <= rec.stepIndex("client-1 write") &&
			takesPart(w, "client-2")
	})
	p.checkShrink(t, rec, runs.WorldSpec{Base: 2, Faults: []runs.Fault{
		item{Kind: "jump", Target: "redis-2", By: -time.Minute, When: "client-1's acquire request to redis-2 arrived"}.fault(),
		item{Kind: "pause", Target: "client-1", How: "suspend", For: time.Minute, When: "client-1's read request to storage is in flight"}.fault(),
	}}, runs.WorldSpec{
		Base: 2,
		Change: scenarios.Change{
			Clients: []string{"client-1", "client-2"}, Nodes: 1,
			Starts: startAt("client-2", "client-1's keys expired"),
		},
		Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", For: 30 * time.Second, Before: "client-1 write"}.fault()},
	}, 60)
}

// Something breaks if client-1 is cut off from two nodes, and another node forgets its key.
func TestShrinkJumpWithPartition(t *testing.T) {
	rec := fakeRecord(3, 5)
	cause := func(w runs.WorldSpec) bool {
		partition, cut := findFault(w, "partition", "client-1")
		i := slices.IndexFunc(w.Faults, func(f runs.Fault) bool { return f.Kind() == "jump" })
		if !cut || i < 0 || !takesPart(w, "client-2") {
			return false
		}
		jump := w.Faults[i]
		return len(partition.Others()) >= 2 && rec.pointIndex(partition) <= rec.stepIndex("client-1 acquire") &&
			jump.Action.(*sim.Jump).By >= 17*time.Second && !slices.Contains(partition.Others(), jump.Target()) &&
			rec.pointIndex(jump) >= rec.stepIndex("client-1 read")
	}
	from := runs.WorldSpec{Faults: []runs.Fault{
		item{Kind: "partition", Target: "client-1", Others: []string{"redis-1", "redis-3", "redis-5"}, For: time.Minute}.fault(),
		item{Kind: "jump", Target: "redis-4", By: 31500 * time.Millisecond, When: "redis-4's reply to client-2's acquire is in flight"}.fault(),
	}}
	newFakeRunner(cause).checkShrink(t, rec, from, runs.WorldSpec{
		Change: scenarios.Change{
			// two nodes are a majority of three
			Clients: []string{"client-1", "client-2"}, Nodes: 3,
			Starts: startAt("client-2", "client-1's key expired on redis-3"),
		},
		Faults: []runs.Fault{
			item{Kind: "partition", Target: "client-1", Others: []string{"redis-1", "redis-2"}, For: time.Millisecond, Before: "client-1 acquire"}.fault(),
			item{Kind: "jump", Target: "redis-3", By: 20 * time.Second, Before: "client-2 release"}.fault(),
		},
	}, 120)

	// Two nodes are a minority of five. Of three nodes, one is a minority.
	minority := from
	minority.Faults = slices.Clone(from.Faults)
	minority.Faults[0] = minority.Faults[0].WithOthers([]string{"redis-1", "redis-5"})
	newFakeRunner(cause).checkShrink(t, rec, minority, runs.WorldSpec{
		Change: scenarios.Change{
			Clients: []string{"client-1", "client-2"},
			Starts:  startAt("client-2", "client-1's key expired on redis-4"),
		},
		Faults: []runs.Fault{
			item{Kind: "partition", Target: "client-1", Others: []string{"redis-1", "redis-5"}, For: time.Millisecond, Before: "client-1 acquire"}.fault(),
			item{Kind: "jump", Target: "redis-4", By: 20 * time.Second, Before: "client-2 release"}.fault(),
		},
	}, 120)

	// If the cause does not need that a majority is cut off, fewer nodes are cut off.
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		partition, cut := findFault(w, "partition", "client-1")
		return cut && slices.ContainsFunc(partition.Others(), func(name string) bool { return name == "redis-4" || name == trace.StorageName })
	})
	p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "partition", Target: "client-1", Others: []string{"redis-2", "redis-4", "redis-5"}}.fault()}}, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-1"}},
		Faults: []runs.Fault{item{Kind: "partition", Target: "client-1", Others: []string{"redis-4"}, Before: "client-1 release"}.fault()},
	}, 30)
}

// The nodes that remain get the names of the first nodes, wherever a fault names them.
func TestShrinkRenamesNodes(t *testing.T) {
	rec := fakeRecord(2, 7)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		if len(w.Faults) != 2 {
			return false
		}
		held, crash := w.Faults[0].Action.(*sim.Hold).Message, w.Faults[1]
		reply := trace.Message{Client: "client-2", Peer: held.Peer, Step: trace.Acquire, Reply: true}
		return slices.Contains(nodesOf(rec, w), crash.Target()) && held == trace.NthMessage{Message: reply, Nth: 2} && held.Peer != crash.Target() &&
			!crash.Strikes.When.IsZero() && !w.Change.Starts["client-2"].IsZero() && (w.Change.Nodes == 0 || w.Change.Nodes >= 5)
	})
	p.checkShrink(t, rec, runs.WorldSpec{
		Change: scenarios.Change{Starts: startAt("client-2", "redis-6 restarted")},
		Faults: []runs.Fault{
			item{Kind: "hold", Target: "redis-5's reply to client-2's acquire, 2nd time"}.fault(),
			item{Kind: "crash", Target: "redis-3", When: "redis-7's reply to client-1's acquire is in flight"}.fault(),
		},
	}, runs.WorldSpec{
		Change: scenarios.Change{Nodes: 5, Starts: startAt("client-2", "client-1's key expired on redis-1")},
		Faults: []runs.Fault{
			item{Kind: "hold", Target: "redis-2's reply to client-2's acquire, 2nd time"}.fault(),
			item{Kind: "crash", Target: "redis-1", When: "redis-1's reply to client-2's release is in flight"}.fault(),
		},
	}, 80)
}

// The start of a client may depend on a node that no fault names. That node is kept.
func TestShrinkKeepsStart(t *testing.T) {
	rec := fakeRecord(2, 5)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		if len(w.Faults) != 1 {
			return false
		}
		start, crashes := w.Change.Starts["client-2"].String(), w.Faults[0].Target()
		return start == "redis-4 synced" && crashes == "redis-2" || w.Change.Nodes == 3 && start == "redis-2 synced" && crashes == "redis-1"
	})
	p.checkShrink(t, rec, runs.WorldSpec{
		Change: scenarios.Change{Starts: startAt("client-2", "redis-4 synced")},
		Faults: []runs.Fault{item{Kind: "crash", Target: "redis-2"}.fault()},
	}, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-2"}, Nodes: 3, Starts: startAt("client-2", "redis-2 synced")},
		Faults: []runs.Fault{item{Kind: "crash", Target: "redis-1", Before: "client-2 release"}.fault()},
	}, 60)
}

// hasThreeFaults reports whether a world has the three faults that are needed.
func hasThreeFaults(w runs.WorldSpec) bool {
	_, a := findFault(w, "crash", "redis-1")
	_, b := findFault(w, "crash", "redis-2")
	_, c := findFault(w, "hold", "client-1's write request to storage")
	return a && b && c
}

// Three of four faults are needed, in any size and manner. The fourth fault is left out.
func TestShrinkThreeOfFour(t *testing.T) {
	rec := fakeRecord(2, 3)
	newFakeRunner(hasThreeFaults).checkShrink(t, rec, runs.WorldSpec{Change: diskChange("redis-2", sim.NoPersistence), Faults: []runs.Fault{
		item{Kind: "crash", Target: "redis-2", How: "power-loss", For: 3 * time.Second}.fault(),
		item{Kind: "stall", Target: "client-1", For: 30 * time.Second}.fault(),
		item{Kind: "crash", Target: "redis-1"}.fault(),
		item{Kind: "hold", Target: "client-1's write request to storage", For: 61 * time.Second}.fault(),
	}}, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-1"}},
		Faults: []runs.Fault{
			item{Kind: "crash", Target: "redis-2", For: time.Millisecond, Before: "client-1 release"}.fault(),
			item{Kind: "crash", Target: "redis-1", Before: "client-1 release"}.fault(),
			item{Kind: "hold", Target: "client-1's write request to storage", For: time.Millisecond}.fault(),
		},
	}, 50)
}

// Each of two faults is sufficient alone. The first one is kept.
func TestShrinkEitherSuffices(t *testing.T) {
	rec := fakeRecord(2, 1)
	p := newFakeRunner(func(w runs.WorldSpec) bool { return len(w.Faults) > 0 })
	p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{
		item{Kind: "pause", Target: "client-2", For: 3 * time.Second, Before: "client-2 release"}.fault(),
		item{Kind: "pause", Target: "client-1", For: 3 * time.Second, Before: "client-1 release"}.fault(),
	}}, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-2"}},
		Faults: []runs.Fault{item{Kind: "pause", Target: "client-2", For: time.Millisecond, Before: "client-2 release"}.fault()},
	}, 10)
}

// One fault is needed only as long as another one strikes early. It is left out once the
// other one strikes later.
func TestShrinkDropsFaultThatBecomesSuperfluous(t *testing.T) {
	rec := fakeRecord(2, 1)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		pause, paused := findFault(w, "pause", "client-1")
		_, crashed := findFault(w, "crash", "client-2")
		return paused && (crashed || pause.Strikes.Before.Step == trace.Release)
	})
	p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{
		item{Kind: "pause", Target: "client-1", Before: "client-1 acquire"}.fault(),
		item{Kind: "crash", Target: "client-2", Before: "client-2 acquire"}.fault(),
	}}, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-1"}},
		Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", Before: "client-1 release"}.fault()},
	}, 20)
}

// One fault must strike before another one. Both strike as late as that allows.
func TestShrinkOrderMatters(t *testing.T) {
	rec := fakeRecord(2, 1)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		crash, a := findFault(w, "crash", "redis-1")
		pause, b := findFault(w, "pause", "client-1")
		return a && b && rec.pointIndex(crash) < rec.pointIndex(pause) && rec.pointIndex(pause) <= rec.stepIndex("client-1 write") && takesPart(w, "client-2")
	})
	p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{
		item{Kind: "crash", Target: "redis-1", For: 2 * time.Second}.fault(),
		item{Kind: "pause", Target: "client-1", For: 100 * time.Second, Before: "client-1 read"}.fault(),
	}}, runs.WorldSpec{
		Change: scenarios.Change{Starts: startAt("client-2", "client-1's key expired on redis-1")},
		Faults: []runs.Fault{
			item{Kind: "crash", Target: "redis-1", For: time.Millisecond, Before: "client-1 work"}.fault(),
			item{Kind: "pause", Target: "client-1", For: time.Millisecond, Before: "client-1 write"}.fault(),
		},
	}, 50)
}

// Two of the three clients are needed, client-1 and client-3. Both have to start as in the
// base, not at another moment.
func TestShrinkTwoOfThreeClients(t *testing.T) {
	rec := fakeRecord(3, 3)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		return takesPart(w, "client-1") && takesPart(w, "client-3") && len(w.Change.Starts) == 0 && len(w.Faults) == 1
	})
	p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "reset", Target: "client-3", Others: []string{"redis-3"}, When: "redis-3's reply to client-3's release is in flight"}.fault()}}, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-1", "client-3"}, Nodes: 1},
		Faults: []runs.Fault{item{Kind: "reset", Target: "client-3", Others: []string{"redis-1"}, Before: "client-3 release"}.fault()},
	}, 20)
}

// Each client starts at the first moment that is sufficient.
func TestShrinkStartsClientsAtFirstMoment(t *testing.T) {
	rec := fakeRecord(3, 1)
	for _, tt := range []struct {
		fault runs.Fault
		start string
	}{
		{item{Kind: "jump", Target: "redis-1", By: time.Millisecond}.fault(), "redis-1's clock jumped"},
		{item{Kind: "crash", Target: "redis-1", For: time.Millisecond}.fault(), "redis-1 restarted"},
		{item{Kind: "pause", Target: "redis-1", For: time.Millisecond}.fault(), "redis-1 resumed"},
		{item{Kind: "pause", Target: "client-2", For: time.Millisecond}.fault(), "client-2's keys expired"},
		{item{Kind: "hold", Target: "client-3's write request to storage"}.fault(), "client-2 acquired"},
	} {
		last := tt.fault
		if last.Target() != "" {
			last.Strikes.Before = step("client-3 release")
			if last.Target() == "client-2" {
				last.Strikes.Before = step("client-2 release")
			}
		}
		p := newFakeRunner(func(w runs.WorldSpec) bool {
			start := w.Change.Starts["client-3"].String()
			return len(w.Faults) == 1 && w.Change.Clients == nil && (start == "" || start == tt.start) && w.Change.Starts["client-2"].IsZero()
		})
		p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{tt.fault}}, runs.WorldSpec{
			Change: scenarios.Change{Starts: startAt("client-3", tt.start)},
			Faults: []runs.Fault{last},
		}, 80)
	}
}

// A better start for a client may be the moment at which a fault makes a node forget. It
// may be possible only if the fault strikes at another step. Then both are changed
// together.
func TestShrinkChangesStartAndFaultTogether(t *testing.T) {
	rec := fakeRecord(2, 1)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		jump, ok := findFault(w, "jump", "redis-1")
		switch w.Change.Starts["client-2"].String() {
		case "":
			return ok && takesPart(w, "client-2") && jump.Strikes.Before.IsZero() // client-2 asks repeatedly
		case "client-1's key expired on redis-1":
			return ok && takesPart(w, "client-2") && rec.pointIndex(jump) > rec.stepIndex("client-1 read") && rec.pointIndex(jump) < rec.stepIndex("client-1 write")
		}
		return false
	})
	p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "jump", Target: "redis-1", By: time.Second, When: "redis-1's reply to client-1's acquire is in flight"}.fault()}}, runs.WorldSpec{
		Change: scenarios.Change{Starts: startAt("client-2", "client-1's key expired on redis-1")},
		Faults: []runs.Fault{item{Kind: "jump", Target: "redis-1", By: time.Millisecond, Before: "client-1 work"}.fault()},
	}, 60)
}

// A fault that waits for a message usually needs no trigger. The trigger is kept if nothing
// breaks without it.
func TestShrinkDropsTriggers(t *testing.T) {
	rec := fakeRecord(1, 1)
	for _, f := range []runs.Fault{
		item{Kind: "stall", Target: "client-1", Step: trace.Read, Before: "client-1 read"}.fault(),
		item{Kind: "hold", Target: "client-1's read request to storage", When: "client-1's read request to storage is in flight"}.fault(),
	} {
		plain := f.WithTrigger(trace.Trigger{})
		newFakeRunner(func(w runs.WorldSpec) bool { return len(w.Faults) == 1 }).
			checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{f}}, runs.WorldSpec{Faults: []runs.Fault{plain}}, 5)
		newFakeRunner(func(w runs.WorldSpec) bool { return len(w.Faults) == 1 && !w.Faults[0].Strikes.IsZero() }).
			checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{f}}, runs.WorldSpec{Faults: []runs.Fault{f}}, 5)
	}
}

// A client may start at an effect of a fault. That is no reason to keep the fault.
func TestShrinkDropsFaultAtWhichClientStarts(t *testing.T) {
	rec := fakeRecord(2, 1)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		at, waits := w.Change.Starts["client-2"]
		_, jumped := findFault(w, "jump", "redis-1")
		return takesPart(w, "client-2") && (!waits || at.String() == "redis-1's clock jumped" && jumped || at.String() == "client-1 acquired")
	})
	p.checkShrink(t, rec, runs.WorldSpec{
		Change: scenarios.Change{Starts: startAt("client-2", "redis-1's clock jumped")},
		Faults: []runs.Fault{item{Kind: "jump", Target: "redis-1", By: time.Minute}.fault()},
	}, runs.WorldSpec{Change: scenarios.Change{Clients: []string{"client-2"}}}, 10)
}

// If a fault does damage only at one message, it keeps striking there, however many other
// messages there are.
func TestShrinkOnlyAtOneMessage(t *testing.T) {
	rec := fakeRecord(2, 3)
	const at = "redis-2's reply to client-1's acquire arrived"
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		crash, ok := findFault(w, "crash", "client-1")
		return ok && crash.Strikes.When.String() == at
	})
	from := runs.WorldSpec{Faults: []runs.Fault{item{Kind: "crash", Target: "client-1", When: at}.fault()}}
	want := from
	want.Change.Clients = []string{"client-1"}
	p.checkShrink(t, rec, from, want, 60)
}

// A fault that holds a message is changed to hold the last message of the same kind that is
// sufficient. It never holds a message of another kind.
func TestShrinkLatestMessage(t *testing.T) {
	rec := fakeRecord(2, 3)
	for nth := 2; nth <= 4; nth++ {
		for _, node := range rec.Nodes {
			rec.Messages = append(rec.Messages, Message{NthMessage: trace.NthMessage{Message: trace.Message{Client: "client-1", Peer: node, Step: trace.Acquire}, Nth: nth}})
		}
	}
	from := runs.WorldSpec{Faults: []runs.Fault{item{Kind: "hold", Target: "client-1's acquire request to redis-1", For: time.Second}.fault()}}
	newFakeRunner(func(w runs.WorldSpec) bool { return len(w.Faults) == 1 }).checkShrink(t, rec, from, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-1"}, Nodes: 1},
		Faults: []runs.Fault{item{Kind: "hold", Target: "client-1's acquire request to redis-1, 4th time", For: time.Millisecond}.fault()},
	}, 10)
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		return len(w.Faults) == 1 && w.Change.Nodes == 0 && w.Faults[0].Parameters().Target != "client-1's acquire request to redis-3, 4th time"
	})
	p.checkShrink(t, rec, from, runs.WorldSpec{
		Change: scenarios.Change{Clients: []string{"client-1"}},
		Faults: []runs.Fault{item{Kind: "hold", Target: "client-1's acquire request to redis-2, 4th time", For: time.Millisecond}.fault()},
	}, 20)
}

// breaksWithFault returns a runner of worlds. Something breaks in a world exactly if it has
// one fault, and breaks returns true for the size of this fault.
func breaksWithFault(breaks func(time.Duration) bool) *fakeRunner {
	return newFakeRunner(func(w runs.WorldSpec) bool { return len(w.Faults) == 1 && breaks(w.Faults[0].Size().Time) })
}

func TestShrinkSizes(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct{ from, threshold, want time.Duration }{
		{120 * s, 29880 * time.Millisecond, 30 * s},
		{31500 * time.Millisecond, 30010 * time.Millisecond, 31500 * time.Millisecond},
		{60 * s, 30010 * time.Millisecond, 40 * s},
		{60 * s, 17 * s, 20 * s},
		{60 * s, 11 * s, 12 * s},
		{60 * s, 10*s + 1, 12 * s},
		{600 * s, 61 * s, 75 * s},
		{600 * s, 76 * s, 90 * s},
		{600 * s, 50*s + 1, 60 * s},
		{600 * s, 300*s + 1, 360 * s},
		{10 * s, 1, time.Millisecond},
		{10 * time.Microsecond, 1, 10 * time.Microsecond},
		{0, 0, 0}, // 0 is forever
	} {
		for _, of := range []item{{Kind: "pause"}, {Kind: "jump"}, {Kind: "delay", Others: []string{"client-1"}}} {
			of.Target, of.Before = "redis-1", "client-1 release"
			from := of.fault()
			rec := fakeRecord(1, 1)
			breaksWithFault(func(size time.Duration) bool { return size >= tt.threshold }).
				checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{from.WithSize(sim.Size{Time: tt.from})}}, runs.WorldSpec{Faults: []runs.Fault{from.WithSize(sim.Size{Time: tt.want})}}, 30)
		}
	}
	back := item{Kind: "jump", Target: "redis-1", By: -time.Minute, Before: "client-1 release"}.fault()
	breaksWithFault(func(size time.Duration) bool { return size >= 3*s }).
		checkShrink(t, fakeRecord(1, 1), runs.WorldSpec{Faults: []runs.Fault{back}}, runs.WorldSpec{Faults: []runs.Fault{back.WithSize(sim.Size{Time: 3 * s})}}, 30)
}

// Damage may disappear and reappear as a size grows. The smallest size is found even so.
func TestShrinkIslandOfSizes(t *testing.T) {
	pause := item{Kind: "pause", Target: "client-1", Before: "client-1 release"}.fault()
	p := breaksWithFault(func(size time.Duration) bool {
		return size >= 4*time.Second && size < 6*time.Second || size >= 28*time.Second
	})
	p.checkShrink(t, fakeRecord(1, 1), runs.WorldSpec{Faults: []runs.Fault{pause.WithSize(sim.Size{Time: time.Minute})}}, runs.WorldSpec{Faults: []runs.Fault{pause.WithSize(sim.Size{Time: 4 * time.Second})}}, 30)
}

// From one round size to the next, the size grows by at most a third.
func TestRoundSizes(t *testing.T) {
	number := func(s sim.Size) int64 { return int64(s.Time) + int64(s.Rate) }
	all := append(slices.Clone(roundTimes), roundRates...)
	for i, size := range all[1:] {
		if last := all[i]; (size.Rate != 0) == (last.Rate != 0) && (!last.Less(size) || 3*number(size) > 4*number(last)) {
			t.Errorf("%v follows %v, want a larger size, by at most a third", size, last)
		}
		if digits := significantDigits(size); digits > 2 {
			t.Errorf("%v has %d significant digits, want at most 2", size, digits)
		}
	}
	for _, size := range coarseTimes {
		if !slices.Contains(roundTimes, size) {
			t.Errorf("%v is in coarseTimes, but not in roundTimes", size)
		}
	}
}

// shrink accepts no world that is inconclusive, and none in which a paused process ran on,
// even if it is smaller.
func TestShrinkRejectsInconclusiveWorlds(t *testing.T) {
	rec := fakeRecord(2, 1)
	for name, trap := range map[string]runs.WorldResult{"inconclusive": doubtfulResult, "a paused process runs on": ranOnResult} {
		t.Run(name, func(t *testing.T) {
			p := &fakeRunner{outcome: func(w runs.WorldSpec) runs.WorldResult {
				pause, ok := findFault(w, "pause", "client-1")
				switch {
				case !ok || !takesPart(w, "client-2"):
					return trap
				case pause.Strikes.Before.Step != trace.Read || pause.For < 7*time.Second || w.Change.Starts != nil:
					return trap
				}
				return brokenResult
			}}
			pause := item{Kind: "pause", Target: "client-1", For: 10 * time.Second, Before: "client-1 read"}.fault()
			p.checkShrink(t, rec, runs.WorldSpec{Faults: []runs.Fault{pause}}, runs.WorldSpec{Faults: []runs.Fault{pause.WithSize(sim.Size{Time: 8 * time.Second})}}, 60)
		})
	}

	// If a paused process ran on in the first world, it may also do so in smaller ones.
	p := &fakeRunner{outcome: func(w runs.WorldSpec) runs.WorldResult {
		if len(w.Faults) == 0 {
			return unbrokenResult
		}
		return ranOnResult
	}}
	p.checkShrink(t, rec,
		runs.WorldSpec{Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", For: time.Minute, Before: "client-1 read"}.fault()}},
		runs.WorldSpec{
			Change: scenarios.Change{Clients: []string{"client-1"}},
			Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", For: time.Millisecond, Before: "client-1 release"}.fault()},
		}, 10)
}

// A smaller world must do all of the damage that was found. It may do other damage in
// addition.
func TestShrinkKeepsAllDamage(t *testing.T) {
	rec := fakeRecord(1, 1)
	p := &fakeRunner{outcome: func(w runs.WorldSpec) runs.WorldResult {
		switch size := w.Faults[0].Size().Time; {
		case size < 10*time.Second:
			return runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: "serial-sections", Blame: checks.BlameLock}}}}
		case size < 20*time.Second:
			return runs.WorldResult{On: brokenResult.Off}
		case size < 30*time.Second:
			return runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: "write-order"}, {What: "serial-sections"}}}}
		}
		return brokenResult
	}}
	pause := item{Kind: "pause", Target: "client-1", Before: "client-1 release"}.fault()
	faults := []runs.Fault{pause.WithSize(sim.Size{Time: time.Minute})}
	withFault := p.outcome
	p.outcome = func(w runs.WorldSpec) runs.WorldResult {
		if len(w.Faults) == 0 {
			return unbrokenResult
		}
		return withFault(w)
	}
	p.checkShrink(t, rec, runs.WorldSpec{Faults: faults}, runs.WorldSpec{Faults: []runs.Fault{pause.WithSize(sim.Size{Time: 20 * time.Second})}}, 30)
}

// A world that cannot be run counts as one without damage. It is not tried again.
func TestShrinkImpossibleWorlds(t *testing.T) {
	rec := fakeRecord(2, 3)
	tries := map[string]int{}
	r := runs.RunnerFunc(func(_ context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		tries[w.Key()]++
		switch {
		case w.Change.Nodes != 0 || w.Change.Clients != nil || w.Change.Starts != nil:
			return brokenResult, errors.New("there is no such world")
		case len(w.Faults) == 0:
			return unbrokenResult, nil
		}
		return brokenResult, nil
	})
	got, err := shrink(t.Context(), r, rec, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "crash", Target: "client-1"}.fault()}}, brokenDamage)
	want := runs.WorldSpec{Faults: []runs.Fault{item{Kind: "crash", Target: "client-1", Before: "client-1 release"}.fault()}}
	if err != nil || !sameWorld(got, want) {
		t.Errorf("shrunk to %s, %v; want %s", got.Key(), err, want.Key())
	}
	for w, n := range tries {
		if n > 1 {
			t.Errorf("%s was run %d times", w, n)
		}
	}
}

// When shrink has run as many worlds as it may, it returns the smallest world so far. That
// world must still be minimal. Here a fault becomes superfluous on fewer nodes, just before
// the limit is reached.
func TestShrinkAtItsLimit(t *testing.T) {
	rec := fakeRecord(3, 5)
	for nth := 2; nth <= 2*maxShrinkWorlds; nth++ {
		request := trace.Message{Client: "client-2", Peer: trace.StorageName, Step: trace.Read}
		rec.Points = append(rec.Points, InjectionPoint{Process: "client-2", Strikes: trace.Trigger{When: request.InFlight(nth)}})
	}
	pause := item{Kind: "pause", Target: "client-2", For: time.Minute, When: "client-2's read request to storage is in flight"}.fault()
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		f, paused := findFault(w, "pause", "client-2")
		_, crashed := findFault(w, "crash", "client-1")
		return paused && f.Strikes.Equal(pause.Strikes) && (crashed || w.Change.Nodes == 1)
	})
	p.checkShrink(t, rec,
		runs.WorldSpec{Faults: []runs.Fault{item{Kind: "crash", Target: "client-1"}.fault(), pause}},
		runs.WorldSpec{
			Change: scenarios.Change{
				Clients: []string{"client-1", "client-2"}, Nodes: 1,
				Starts: startAt("client-2", "client-1's keys expired"),
			},
			Faults: []runs.Fault{pause},
		}, maxShrinkWorlds+4)
	if p.worlds < maxShrinkWorlds {
		t.Errorf("%d worlds were run, want that the limit of %d is reached", p.worlds, maxShrinkWorlds)
	}
}

func TestShrinkStops(t *testing.T) {
	rec := fakeRecord(2, 5)
	ctx, cancel := context.WithCancel(t.Context())
	worlds := 0
	r := runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		if worlds++; worlds == 3 {
			cancel()
		}
		if len(w.Faults) == 0 {
			return unbrokenResult, ctx.Err()
		}
		return brokenResult, ctx.Err()
	})
	w := runs.WorldSpec{Faults: []runs.Fault{item{Kind: "crash", Target: "client-1"}.fault(), item{Kind: "crash", Target: "client-2"}.fault()}}
	got, err := shrink(ctx, r, rec, w, brokenDamage)
	// The first world is w itself, and the second has no faults. ctx is done during the
	// third, so its result is not used.
	if !errors.Is(err, context.Canceled) || !sameWorld(got, w) || worlds != 3 {
		t.Errorf("after %d worlds shrink returns %s, %v; want the original world after 3 worlds, and that the context was canceled", worlds, got.Key(), err)
	}

	if _, err := shrink(t.Context(), newFakeRunner(func(runs.WorldSpec) bool { return false }), rec, w, brokenDamage); err == nil || !strings.Contains(err.Error(), "cannot shrink") {
		t.Errorf("shrinking a world without damage returns %v, want an error that it cannot be shrunk", err)
	}
	never := errors.New("never")
	if _, err := shrink(t.Context(), runs.RunnerFunc(func(context.Context, runs.WorldSpec) (runs.WorldResult, error) { return unbrokenResult, never }), rec, w, brokenDamage); !errors.Is(err, never) {
		t.Errorf("shrinking a world that cannot be run returns %v, want %v", err, never)
	}
}

func TestCompareSimplicity(t *testing.T) {
	const s = time.Second
	pause := item{Kind: "pause", Target: "client-1", For: 30 * s, Before: "client-1 write"}.fault()
	faulty := func(faults ...runs.Fault) runs.WorldSpec {
		return runs.WorldSpec{Change: scenarios.Change{Nodes: 3}, Faults: faults}
	}
	suspension, atMessage, crash := pause, pause, item{Kind: "crash", Target: "redis-1", For: s}.fault()
	none := map[string]sim.Persistence{"redis-1": sim.NoPersistence}
	suspension.Action = &sim.Pause{Process: "client-1", Mode: trace.Suspend}
	atMessage.Strikes = trace.Trigger{When: point("client-1's write request to storage is in flight")}
	cut := func(nodes ...string) runs.Fault {
		return item{Kind: "partition", Target: "client-1", Others: nodes}.fault()
	}
	simplest := []runs.WorldSpec{ // the simplest first
		{},
		{Base: 1},
		{Change: scenarios.Change{Clients: []string{"client-1"}, Nodes: 1}, Faults: []runs.Fault{suspension}},
		{Change: scenarios.Change{Clients: []string{"client-1", "client-2"}, Nodes: 1}, Faults: []runs.Fault{pause}},
		{Change: scenarios.Change{Nodes: 1}, Faults: []runs.Fault{pause}},
		faulty(pause.WithSize(sim.Size{Time: 20 * s})),
		faulty(pause),
		faulty(pause.WithSize(sim.Size{Time: 90 * s})), // the size begins with a 9, followed by zeros
		faulty(pause.WithSize(sim.Size{Time: 120 * s})),
		faulty(pause.WithSize(sim.Size{Time: 31 * s})),
		faulty(pause.WithSize(sim.Size{Time: 31500 * time.Millisecond})),
		faulty(atMessage),
		faulty(cut("redis-1")),
		faulty(cut("redis-1", "redis-2")),
		{Change: scenarios.Change{Nodes: 3, Persistence: none}, Faults: []runs.Fault{crash}},
		faulty(suspension),
		{Faults: []runs.Fault{pause}},
		{Change: scenarios.Change{Nodes: 1, Persistence: none}, Faults: []runs.Fault{pause, crash}},
	}
	for i, a := range simplest {
		for j, b := range simplest {
			if got := compareSimplicity(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("compareSimplicity(%s, %s) = %d, want the sign of %d", a.Key(), b.Key(), got, i-j)
			}
		}
	}
}
