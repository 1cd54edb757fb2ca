package scenarios_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
)

var (
	repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run; with other locks than the scenario's own a tenth as often, but at least once; with -short once, and only with its own lock")
	seeds   = flag.Uint64("seeds", 3, "on how many seeds each scenario is run; with other locks than its own on a tenth, but on at least 10 if there are as many")
)

// These tests run the catalogue with the project's own locks. The modules of the libraries
// run the same tests with the locks of libraries.

func TestDeterminism(t *testing.T) { suites.CheckDeterminism(t, *repeats, suites.Provided) }

func TestScenariosEndAsExpected(t *testing.T) {
	suites.CheckExpectations(t, *seeds, suites.Provided)
}

func TestEveryFaultMatters(t *testing.T) { suites.CheckEveryFaultMatters(t, suites.Provided) }
