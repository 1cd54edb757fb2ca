package whatif_test

import (
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A lock that is stuck stays a finding when a change leaves the run the time to show it,
// although clients ask for it again and again. A run that ends before a client starts, or
// before a fault is due, is inconclusive.
func TestRunsThatAreCutOff(t *testing.T) {
	for _, c := range []struct {
		scenario, override string
		verdict            string
		progress           checks.Outcome
	}{
		{"majority-down", "unscripted=true", checks.Safe, checks.Violated},
		{"majority-down", "horizon=20m", checks.Safe, checks.Violated},
		{"same-majority-down", "horizon=20m", checks.Safe, checks.Violated},
		{"split-brain", "horizon=1s", checks.Undecided, checks.Unknown},
		{"circuit-breaker", "horizon=100ms", checks.Undecided, checks.NotApplicable},
	} {
		results, _, err := openScenario(t, c.scenario, c.override).Variants[0].RunBoth(scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		v := results[0].Verdict
		if got := v.Finding(checks.Progress).Outcome; v.Verdict != c.verdict || got != c.progress {
			t.Errorf("%s with %s: the verdict is %s and progress is %s, want %s and %s; reasons %v", c.scenario, c.override, v.Verdict, got, c.verdict, c.progress, v.Reasons)
		}
	}
}
