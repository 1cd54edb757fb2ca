package locktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// World runs one of the worlds of [Run] with a lock, in this process, and returns what
// happened in it, for assertions of the test's own. name is the world's as a failing
// test writes it after LOCKSIM_REPLAY, such as "catalogue/gc-pause/fencing-off", with
// " seed 2" after it for other latencies than those of seed 1.
//
// It fails the test at once if there is no such world, if the lock cannot be told that
// story, and for conduct after which there is nothing to assert on: a panic, a call that
// never returns. What Run says of the world it does not say.
func World(t testing.TB, config Config, build New, name string) *history.History {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePlace(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.world(p)
	if err != nil {
		t.Fatal(err)
	}
	v := s.tell(p, w)
	for _, problem := range v.problems {
		if slices.Contains([]string{rulePanic, ruleHang, ruleMake, ruleError}, problem.Rule) {
			t.Fatal(problem)
		}
	}
	switch {
	case v.untold != "":
		t.Fatalf("locktest: %s cannot be told with this lock: %s", name, v.untold)
	case v.history == nil:
		t.Fatalf("locktest: %s came to no end: %s", name, strings.Join(v.reasons, "; "))
	}
	return v.history
}

// Scenario runs a scenario of the test's own with a lock, in this process: each of its
// variants without fencing tokens and then with them, on one seed. text is what its file
// would say, and the lock takes the place of the one that it names; see
// docs/scenarios.md. What the scenario expects is compared with what came of it by nobody
// but the test.
//
// It fails the test at once if the scenario has an error, if it is impossible with the
// lock, or if a world does not come to its end.
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
	result, err := scenarios.Run(story, scenarios.RunOptions{Seed: seed, Kind: s.kind, Patience: patience})
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	return result.Runs
}
