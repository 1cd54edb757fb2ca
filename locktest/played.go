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

// World runs one of the worlds of [Run] with a lock, in this process, and returns what
// happened in it, for assertions of the test's own. name is the world's as a failing
// test writes it after LOCKSIM_REPLAY, such as "catalogue/gc-pause/fencing-off", with
// " seed 2" after it for other latencies than those of seed 1.
//
// It fails the test at once if there is no such world, or nothing to assert on: the lock
// cannot be made or told that story, it panics, hangs or retries without end, this machine
// was too slow, or the story has not come about. What Run says of the world it does not
// say.
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
	v := s.tell(p, w)
	for _, problem := range v.problems {
		if slices.Contains([]checks.Property{checks.Panic, checks.Hang, checks.EndlessRetry, checks.CannotBeMade, ruleError}, problem.Rule) {
			t.Fatal(problem)
		}
	}
	switch {
	case v.untold != "":
		t.Fatalf("locktest: %s cannot be told with this lock: %s", name, v.untold)
	case len(v.reasons) > 0 || v.history == nil:
		t.Fatalf("locktest: %s says nothing of the lock: %s", name, strings.Join(v.reasons, "; "))
	}
	return v.history
}

// Scenario runs a scenario of the test's own with a lock, in this process: each of its
// variants without fencing tokens and then with them, on one seed. text is what its file
// would say, and the lock takes the place of the one that it names; see
// docs/scenarios.md. What the scenario expects is compared with what came of it by nobody
// but the test.
//
// It fails the test at once if the scenario has an error, or a run proves nothing: the lock
// cannot be made, a client never begins, a fault never strikes, a witness is not seen, the
// lock panics or leaves goroutines behind. A run that its horizon cuts off is none of
// that: see [history.History.Horizon].
func Scenario(t testing.TB, config Config, build New, seed uint64, text string) []scenarios.Outcome {
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
			t.Fatalf("locktest: the run with fencing %s proves nothing: %s", run.Fencing, run.Verdict.Reasons[0])
		}
	}
	return result.Runs
}
