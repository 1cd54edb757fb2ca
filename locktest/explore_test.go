package locktest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Without faults, a lock without a mistake does nothing wrong in any workload of an
// exploration, and the runs are conclusive.
func TestWorkloads(t *testing.T) {
	for _, config := range []Config{
		{},
		{Extends: true, OwnClock: true},
		{Nodes: 3, Extends: true, OwnClock: true},
		{Nodes: 5},
	} {
		e := newExplorer(t, config, mutantConstructor(t, "quorum"), Exploration{})
		if want := 3; !config.Extends && len(e.search.Bases) != want {
			t.Errorf("%d workloads for a lock that cannot extend, want %d: none in which it would have to", len(e.search.Bases), want)
		}
		for i, base := range e.search.Bases {
			o, err := e.local.Run(t.Context(), runs.WorldSpec{Base: i})
			switch {
			case err != nil:
				t.Errorf("%d nodes, %s: %v", config.Nodes, base.Name, err)
			case o.Broke() || o.Off.Doubt != "" || o.On.Doubt != "" || o.RanOn():
				t.Errorf("%d nodes, %s: %+v", config.Nodes, base.Name, o)
			}
		}
	}
}

// The waiters for this lock wait for longer than the TTL. An exploration changes its
// workloads to fit that, and its worker processes run the changed workloads too.
func TestFittedWorkloads(t *testing.T) {
	build := mutantConstructor(t, "quorum")
	e := newExplorer(t, Config{Extends: true, OwnClock: true}, func(env *Env) (locks.Lock, error) {
		slow := *env.env
		slow.TTL *= 3
		return build(&Env{&slow})
	}, Exploration{})
	if serveOrReplay(t, e.call, e) {
		return
	}
	plain := e.local
	pool := e.startWorkers(t)
	defer pool.Close()
	// In the original workload, whose work takes little more than a TTL, no client extends
	// its lease so often.
	w := runs.WorldSpec{Base: 1, Faults: []runs.Fault{{Fault: sim.Fault{
		Action: &sim.Pause{Process: "client-1"}, For: ttls(0.1),
		Strikes: trace.Trigger{Before: trace.StepPoint{Client: "client-1", Step: trace.Extend, Nth: 5}},
	}}}}
	if base := e.search.Bases[w.Base]; base.Name != "extend" || base.Takeover < ttls(3) {
		t.Errorf("in the workload %s another client has the lock %v after a crash; want the workload extend, and at least %v", base.Name, base.Takeover, ttls(3))
	}
	for name, c := range map[string]struct {
		runner runs.Runner
		fitted bool
	}{
		"the original workload": {plain, false}, "the changed workload in this process": {e.local, true}, "the changed workload in a worker process": {pool, true},
	} {
		if o, err := c.runner.Run(t.Context(), w); err != nil || (o.Off.Doubt == "") != c.fitted {
			t.Errorf("%s: the run without fencing is %+v, error %v; want conclusive: %v", name, o.Off, err, c.fitted)
		}
	}
}

// hasty is a lock whose acquire gives up after a short time.
type hasty struct{ locks.Lock }

func (l hasty) Acquire(ctx context.Context) (locks.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	return l.Lock.Acquire(ctx)
}

// A lock with short timeouts of its own is explored with shorter latencies, with which it
// works. The report on a world then describes a run with these latencies, too.
func TestPacedWorkloads(t *testing.T) {
	build := mutantConstructor(t, "quorum/release-without-compare")
	e := newExplorer(t, Config{OwnClock: true}, func(env *Env) (locks.Lock, error) {
		lock, err := build(env)
		return hasty{lock}, err
	}, Exploration{})
	if serveOrReplay(t, e.call, e) {
		return
	}
	pool := e.startWorkers(t)
	defer pool.Close()
	config, err := e.local.Config(runs.WorldSpec{}, runs.FencingOff)
	if err != nil || config.Network.Max >= usualLatency {
		t.Errorf("the messages of a workload take up to %v, error %v; want less than %v", config.Network.Max, err, usualLatency)
	}
	found, err := pool.Run(t.Context(), pausedHolder)
	if err != nil || found.Off.Doubt != "" || !found.Broke() {
		t.Fatalf("the run in a worker process is %+v, error %v; want a conclusive run that breaks the lock", found, err)
	}
	both := e.runBoth(t.Context(), pool, pausedHolder)
	var reported []string
	for _, p := range mergeVerdicts(both).Problems {
		reported = append(reported, string(p.Rule))
	}
	if want := brokenRules(found); !slices.Equal(reported, want) {
		t.Errorf("the report has violations of %q, the search found %q", reported, want)
	}
	for i, fencing := range []string{runs.FencingOff, runs.FencingOn} {
		a, err := e.local.Report(t.Context(), pausedHolder, fencing)
		if err != nil || both[i].history.Trace.Hash() != a.History.Trace.Hash() {
			t.Errorf("the report with fencing %s is about another world, %v", fencing, err)
		}
	}
}

// pausedHolder is a world in which another client asks for the lock in vain while the
// holder is paused. If a lock deletes the key without a check after a failed attempt, it
// deletes the holder's key.
var pausedHolder = runs.WorldSpec{Faults: []runs.Fault{
	{Fault: sim.Fault{
		Action: &sim.Pause{Process: "client-1"}, For: ttls(0.8),
		Strikes: trace.Trigger{Before: trace.StepPoint{Client: "client-1", Step: trace.Release}},
	}},
}}

// A failing test of Explore prints each mistake once: the faults, what they did and where,
// and the commands that run their worlds again.
func TestReportOfExplore(t *testing.T) {
	e := newExplorer(t, Config{OwnClock: true}, mutantConstructor(t, "quorum/release-without-compare"), Exploration{})
	paused := explore.Way{
		Cause: []string{"a pause of a client"}, Example: pausedHolder, Blame: checks.BlameLock,
		Margins: []explore.Margin{{What: "a pause of client-1", Survived: sim.Size{Time: 7 * time.Second}, Broken: sim.Size{Time: 7010 * time.Millisecond}}},
	}
	twice := paused
	twice.Cause, twice.Example.Faults = []string{"two pauses"}, slices.Concat(pausedHolder.Faults, pausedHolder.Faults)
	ways := []explore.Way{twice, paused}
	text := e.describeMistakes(e.mistakes(t.Context(), e.local, ways), len(ways))
	for _, want := range []string{
		"TestReportOfExplore: 1 mistake, in 2 ways to break the lock\n",
		"1  release removes the key of another acquisition, because it compares nothing\n   in 2 ways: two pauses; a pause of a client; violates ",
		"\n   fault: {before: client-1 release, pause: client-1, for: 8s}\n   size: a pause of client-1: this happens with 7.01s, not with 7s\n",
		"remedy: let each acquire set a new random value",
		"client-2  removes client-1's key on redis-1",
		"go test -run '^TestReportOfExplore$'",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not contain %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "replay: "); n != 2 {
		t.Errorf("the report has %d replays, want one for each of the two worlds:\n%s", n, text)
	}
	_, line, _ := strings.Cut(text, replayVariable+"='")
	line, _, _ = strings.Cut(line, "' go test")
	again, err := parseWorld(strings.ReplaceAll(line, `'\''`, "'"))
	if err != nil || replayWorld(again) != replayWorld(pausedHolder) {
		t.Errorf("the replay line has the world %+v, error %v; want the world %+v", again, err, pausedHolder)
	}
}

// parseWorld refuses text that is not a world.
func TestParseWorld(t *testing.T) {
	for _, text := range []string{"explore", "explore {", `explore {"faults":1}`, `explore {"bass":1}`} {
		if _, err := parseWorld(text); err == nil {
			t.Errorf("parseWorld accepts %q, want an error", text)
		}
	}
}

// An exploration counts against a lock only what is the lock's own fault, and only if the
// run proves it.
func TestBrokenRules(t *testing.T) {
	lock := runs.Break{What: "lease-exclusion", Blame: checks.BlameLock}
	inherent := runs.Break{What: "section-exclusion", Blame: checks.BlameInherent}
	panics := runs.Break{What: trace.ConductPanic, Blame: checks.BlameLock, Why: "panic: oh no"}
	for _, c := range []struct {
		name string
		o    runs.WorldResult
		want []string
	}{
		{"no violation", runs.WorldResult{}, nil},
		{"an inherent violation", runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{inherent}}}, nil},
		{"a violation by the lock in both runs", runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{inherent, lock}}, On: runs.RunResult{Breaks: []runs.Break{lock}}}, []string{lock.What}},
		{"a violation by the lock only with fencing", runs.WorldResult{On: runs.RunResult{Breaks: []runs.Break{lock}}}, []string{lock.What}},
		{"a violation by the lock in an inconclusive run", runs.WorldResult{Off: runs.RunResult{Doubt: "no fault acted", Breaks: []runs.Break{lock}}}, nil},
		{"a violation by the lock in a run in which a client ran on while it was paused", runs.WorldResult{Off: runs.RunResult{RanOn: true, Breaks: []runs.Break{lock}}}, nil},
		{"a panic in an inconclusive run", runs.WorldResult{Off: runs.RunResult{Doubt: "no fault acted", Breaks: []runs.Break{panics}}}, []string{panics.What}},
	} {
		if got := brokenRules(c.o); !slices.Equal(got, c.want) {
			t.Errorf("%s: the broken rules are %q, want %q", c.name, got, c.want)
		}
	}
}
