package libraries_test

import (
	"os"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// openDocFile reads a scenario file in docs/, whose results a document states.
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

// runVariant runs a variant with a lock. If lock is "", it runs the variant with its own
// lock.
func runVariant(t *testing.T, v *scenarios.Variant, lock string) []scenarios.RunResult {
	t.Helper()
	runs, notApplicable, err := v.RunBoth(scenarios.RunOptions{Seed: 1, Lock: lock})
	if err != nil || notApplicable != "" {
		t.Fatal(err, notApplicable)
	}
	return runs
}
