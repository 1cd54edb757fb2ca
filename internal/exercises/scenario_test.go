package exercises

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/storage"
)

// checkText checks the text of an exercise in YAML.
func checkText(t *testing.T, file, text string) *Failure {
	t.Helper()
	s, err := scenarios.Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	exercise, err := FindScenario(file)
	if err != nil {
		t.Fatal(err)
	}
	failure, err := exercise.Check(s)
	if err != nil {
		t.Fatal(err)
	}
	return failure
}

// The model solutions solve the exercises in YAML, and the files that the reader begins with
// do not.
func TestScenarios(t *testing.T) {
	for _, s := range scenarioExercises {
		begin := string(moduleFile(t, s.File))
		switch failure := checkText(t, s.File, begin); {
		case failure == nil || failure.Why == "":
			t.Errorf("the exercise %s is solved without any change", s.File)
		case !strings.HasPrefix(failure.Hint, "this is the file as learn new has written it"):
			t.Errorf("the check of the unchanged %s gives the hint %q", s.File, failure.Hint)
		}
		if failure := checkText(t, s.File, begin+"# more\n"); failure == nil || strings.HasPrefix(failure.Hint, "this is the file") {
			t.Errorf("the check of a changed %s says %+v", s.File, failure)
		}
		solution, err := os.ReadFile("_solutions/scenarios/" + s.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range []string{"", "# more\n", "# still more\n"} { // another text gives the runs other seeds
			if failure := checkText(t, s.File, string(solution)+more); failure != nil {
				t.Errorf("the solution of %s does not solve it: %+v", s.File, failure)
			}
		}
	}
}

// Of all policies, one keeps the data right and refuses nothing that it should apply.
func TestPolicies(t *testing.T) {
	begin := string(moduleFile(t, "policy.yaml"))
	var solving []string
	for _, p := range storage.Policies() {
		text := strings.Replace(begin, "fencing: writes", "fencing: "+string(p), 1)
		if s, err := scenarios.Parse("policy.yaml", []byte(text)); err != nil || s == nil {
			continue // not for this lock
		}
		if failure := checkText(t, "policy.yaml", text); failure == nil {
			solving = append(solving, string(p))
		} else {
			t.Logf("%s: %s %s", p, failure.World, failure.Why)
		}
	}
	if want := []string{"reads-and-writes"}; !slices.Equal(solving, want) {
		t.Errorf("the policies %v solve the exercise, want %v", solving, want)
	}
}

// Changes of the exercises in YAML: some are no solution, and some solve the exercise in another
// way than the model solution.
func TestScenarioAnswers(t *testing.T) {
	const suspend = "\n  - after: client-1 read\n    pause: client-1\n    mode: suspend\n    until: client-2 acquired\n"
	for _, c := range []struct {
		file, old, new string
		// why is part of the reason why it is no solution; "" if it is one.
		why string
	}{
		{"pause.yaml", "60s", "8.03s", ""},
		{"pause.yaml", "60s", "8.2s", "not the smallest"},
		{"pause.yaml", "60s", "7.9s", "does no harm"},
		{"pause.yaml", "60s", "1ms", "does no harm"},
		{"pause.yaml", "    for: 60s", "    until: client-2 released", "a length"},
		{"pause.yaml", "pause: client-1\n    for: 60s", "crash: client-1", "a length"},

		{"redlock.yaml", " []", suspend, ""},
		{"redlock.yaml", " []", "\n  - after: client-1 read\n    drift: client-1\n    rate: -50%\n", ""},
		{"redlock.yaml", " []", strings.Replace(suspend, "    mode: suspend\n", "", 1), "the lock has kept its promise"},
		{"redlock.yaml", " []", suspend + "  - at: 1s\n    crash: redis-1\n", "2 faults"},
		{"redlock.yaml", " []", "\n  - after: client-1 read\n    revoke: client-1\n", "operator"},
		{"redlock.yaml", " []", "\n  - after: client-1 read\n    crash: redis-1\n    how: power-loss\n    for: 10ms\n", "No two clients hold the lock"},
		{"redlock.yaml", "ttl: 10s, nodes: 5}", "ttl: 1s, nodes: 5}", "0 faults"},
		{"redlock.yaml", "redlock, ttl: 10s, nodes: 5}\nclients:", "none}\nclients:", "0 faults"},

		{"in-vain.yaml", "until: client-2 released", "until: client-2 read", "data stays right"},
		{"in-vain.yaml", "client-2: {starts: client-1's keys expired}", "client-2: {starts: client-1's keys expired, works-until: client-1 wrote or client-1 was refused, does: [read x, work, write x]}", "The run shows nothing"},
		{"in-vain.yaml", "{fencing: writes}", "{fencing: unfenceable}", "data stays right"},
		{"in-vain.yaml", "kind: single", "kind: none", "use single or redlock"},
		{"in-vain.yaml", "ttl: 10s}", "ttl: 10s}\ntokens: {source: random}", "leave the field tokens out"},
		{"in-vain.yaml", "ttl: 10s}", "ttl: 10s, without: [value-check]}", "all its features"},
		{"in-vain.yaml", "  client-1: {}\n  client-2: {starts: client-1's keys expired}", "  client-1: {does: [read x, write y]}\n  client-2: {starts: client-1's keys expired, does: [read x, read y]}", "data stays right"},
	} {
		begin := string(moduleFile(t, c.file))
		if !strings.Contains(begin, c.old) {
			t.Fatalf("%s does not contain %q", c.file, c.old)
		}
		text := strings.ReplaceAll(begin, c.old, c.new)
		failure := checkText(t, c.file, text)
		switch {
		case failure == nil && c.why != "":
			t.Errorf("%s with %q is a solution", c.file, c.new)
		case failure != nil && (c.why == "" || !strings.Contains(failure.Why, c.why)):
			t.Errorf("%s with %q: %q, want %q", c.file, c.new, failure.Why, c.why)
		}
	}
}
