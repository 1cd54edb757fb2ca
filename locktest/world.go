package locktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// World runs one of the worlds of [Run] against a lock, in this process, and returns its
// history, for the test's own assertions. name is the world's name as a failing test prints
// it after LOCKSIM_REPLAY, such as "catalogue/gc-pause/fencing-off". " seed 2" after the
// name selects other latencies than those of seed 1.
//
// World fails the test immediately if there is no such world, or if the run offers nothing
// to assert on: the lock cannot be made, the test case does not apply to it, the lock
// panics, hangs or retries without end, this machine was too slow, or the scenario's
// preconditions were not met. It does not report the other problems that Run finds in the
// world.
func World(t testing.TB, config Config, build New, name string) *history.History {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parseAddress(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.world(p)
	if err != nil {
		t.Fatal(err)
	}
	v := s.runWorld(p, w)
	for _, problem := range v.problems {
		if slices.Contains([]checks.Property{checks.Panic, checks.Hang, checks.EndlessRetry, checks.CannotBeMade, ruleError}, problem.Rule) {
			t.Fatal(problem)
		}
	}
	switch {
	case v.notApplicable != "":
		t.Fatalf("locktest: %s is not applicable to this lock: %s", name, v.notApplicable)
	case len(v.reasons) > 0 || v.history == nil:
		t.Fatalf("locktest: %s is inconclusive: %s", name, strings.Join(v.reasons, "; "))
	}
	return v.history
}

// Scenario runs the test's own scenario against a lock, in this process: each of its
// variants without fencing tokens and then with them, on one seed. text is the content of a
// scenario file. The lock under test replaces the lock that the file names; see
// docs/scenarios.md. Scenario does not compare the results with what the scenario expects:
// that is up to the test.
//
// Scenario fails the test immediately if the scenario has an error, or if a run is
// inconclusive: the lock cannot be made, a client never begins, a fault never strikes, a
// witness is not seen, the lock panics or leaves goroutines behind. A run that its horizon
// cuts off does not fail the test: see [history.History.Horizon].
func Scenario(t testing.TB, config Config, build New, seed uint64, text string) []scenarios.RunResult {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	story, err := scenarios.Parse(t.Name()+".yaml", []byte(text))
	if err != nil {
		t.Fatalf("locktest: the scenario has errors:\n%v", err)
	}
	result, err := scenarios.Run(story, scenarios.RunOptions{Seed: seed, Kind: s.kind, Patience: s.config.Patience})
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	for _, run := range result.Runs {
		for _, c := range run.History.Trace.Complaints {
			if c.Rule == trace.CannotMake {
				t.Fatalf("locktest: %s: %s", c.Client, c.Why)
			}
		}
		if len(run.Verdict.Reasons) > 0 {
			t.Fatalf("locktest: the run with fencing %s is inconclusive: %s", run.Fencing, run.Verdict.Reasons[0])
		}
	}
	return result.Runs
}
