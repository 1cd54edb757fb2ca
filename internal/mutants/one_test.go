package mutants_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locktest"
)

var mutantName = flag.String("mutant", "", "run the whole suite on the mutant of this `name`, to look at how it fails")

// TestOne runs the suite against the mutant of the flag -mutant, to show how it fails. It
// is also the test that a replay line of that mutant names.
func TestOne(t *testing.T) {
	m := chosenMutant(t)
	locktest.Run(t, configOf(m), build(m))
}

// TestOneExplored explores the mutant of the flag -mutant, to show how it fails. It is also
// the test that a replay line of that mutant names.
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
