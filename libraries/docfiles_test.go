package libraries_test

import (
	"os"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// openDocFile parses a scenario file in docs/, whose results the documents state.
func openDocFile(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	file := "../docs/" + name
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runVariant runs a variant with a lock; "" is its own lock.
func runVariant(t *testing.T, v *scenarios.Variant, lock string) []scenarios.RunResult {
	t.Helper()
	runs, notApplicable, err := v.RunBoth(scenarios.RunOptions{Seed: 1, Lock: lock})
	if err != nil || notApplicable != "" {
		t.Fatal(err, notApplicable)
	}
	return runs
}
