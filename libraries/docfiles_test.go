package libraries_test

import (
	"os"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// openDocFile parses a scenario file in docs/, whose results the documents state.
func beside(t *testing.T, name string) *scenarios.Scenario {
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
func comesTo(t *testing.T, v *scenarios.Variant, lock string) []scenarios.Outcome {
	t.Helper()
	runs, untold, err := v.Tell(scenarios.RunOptions{Seed: 1, Lock: lock})
	if err != nil || untold != "" {
		t.Fatal(err, untold)
	}
	return runs
}
