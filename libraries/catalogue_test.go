package libraries_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
)

var (
	repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run of a scenario with its own lock. With another lock, a run is repeated a tenth as often, but at least once. With -short, TestDeterminism repeats each run once, and runs no other locks")
	seeds   = flag.Uint64("seeds", 3, "on how many seeds each scenario is run with its own lock. With another lock, it is run on a tenth of these seeds, but on at least 10; if there are fewer than 10 seeds, on all of them")
	update  = flag.Bool("update", false, "rewrite the golden files")
)

// This file tests the catalogue with the locks of libraries. suites.OfLibraries selects
// these locks, also for scenarios whose own lock is another one.

func TestDeterminism(t *testing.T) { suites.CheckDeterminism(t, *repeats, suites.OfLibraries) }

func TestScenariosEndAsExpected(t *testing.T) {
	suites.CheckExpectations(t, *seeds, suites.OfLibraries)
}

func TestEveryFaultMatters(t *testing.T) { suites.CheckEveryFaultMatters(t, suites.OfLibraries) }

// If a fault ends, the run continues after the end of the fault: what the lock and its
// clients do then is part of the scenario.
func TestRunsOutlastTheirFaults(t *testing.T) {
	results, err := suites.Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		for _, o := range result.Runs {
			if o.History.Unfinished() != nil {
				t.Errorf("%s, variant %q, fencing %s: the run ends before a fault does; add a client that comes after the fault", result.Scenario.Name, o.Variant.Name, o.Fencing)
			}
		}
	}
}

// A program that has read the events of a run up to a moment knows as much about that moment as the
// history of the whole run says.
func TestReadersAgreeWithHistory(t *testing.T) {
	if p := suites.CompareReaders(t, suites.LibraryScenarios()); p.Keys == 0 {
		t.Errorf("%+v: no key existed at any moment, so nothing was compared", p)
	}
}

// The following tests check the reports of suites.LibraryScenarios: the scenarios of which
// at least one variant has the lock of a library as its own lock.

func TestGolden(t *testing.T) { suites.CheckGolden(t, suites.LibraryScenarios(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) {
	suites.CheckExplanations(t, suites.LibraryScenarios())
}

func TestEveryScenarioIsDrawn(t *testing.T) { suites.CheckDrawings(t, suites.LibraryScenarios()) }

func TestEveryScenarioHasAStoryboard(t *testing.T) {
	suites.CheckStoryboards(t, suites.LibraryScenarios())
}

func TestSavedTracesGiveTheSameReports(t *testing.T) {
	suites.CheckSavedTraces(t, suites.LibraryScenarios())
}
