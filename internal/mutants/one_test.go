package mutants_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locktest"
)

var mutantName = flag.String("mutant", "", "run the whole suite on the mutant of this `name`, to look at how it fails")

// TestOne shows how the suite fails one mutant, and replays it.
func TestOne(t *testing.T) {
	m := chosenMutant(t)
	locktest.Run(t, configOf(m), build(m))
}

// TestOneExplored shows how an exploration fails one mutant, and replays it.
func TestOneExplored(t *testing.T) {
	m := chosenMutant(t)
	locktest.Explore(t, configOf(m), build(m), locktest.Exploration{})
}

// chosenMutant returns the mutant of the flag -mutant.
func chosenMutant(t *testing.T) mutants.Mutant {
	t.Helper()
	if *mutantName == "" {
		t.Skip("set -mutant")
	}
	m, ok := mutants.Lookup(*mutantName)
	if !ok {
		t.Fatalf("no mutant is called %q", *mutantName)
	}
	return m
}
