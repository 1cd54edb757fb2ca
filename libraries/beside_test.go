package libraries_test

import (
	"os"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// beside is the scenario in a file beside the documents, which say what it comes to.
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

// comesTo is what a story comes to with a lock; "" is its own.
func comesTo(t *testing.T, v *scenarios.Variant, lock string) []scenarios.Outcome {
	t.Helper()
	runs, untold, err := v.Tell(scenarios.RunOptions{Seed: 1, Lock: lock})
	if err != nil || untold != "" {
		t.Fatal(err, untold)
	}
	return runs
}
