package mutants_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locktest"
)

var one = flag.String("mutant", "", "run the whole suite on the mutant of this `name`, to look at how it fails")

// TestOne shows how the suite fails one mutant, and replays it.
func TestOne(t *testing.T) {
	m := named(t)
	locktest.Run(t, claims(m), build(m))
}

// TestOneExplored shows how an exploration fails one mutant, and replays it.
func TestOneExplored(t *testing.T) {
	m := named(t)
	locktest.Explore(t, claims(m), build(m), locktest.Exploration{})
}

// chosenMutant returns the mutant of the flag -mutant.
func named(t *testing.T) mutants.Mutant {
	t.Helper()
	if *one == "" {
		t.Skip("set -mutant")
	}
	m, ok := mutants.Lookup(*one)
	if !ok {
		t.Fatalf("no mutant is called %q", *one)
	}
	return m
}
