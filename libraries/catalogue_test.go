package libraries_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
)

var (
	repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run; with other locks than the scenario's own a tenth as often, but at least once; -short repeats it once, with its own lock alone")
	seeds   = flag.Uint64("seeds", 3, "on how many seeds each scenario is run; with other locks than its own on a tenth of them, but at least on 10, or on all if there are fewer")
	update  = flag.Bool("update", false, "rewrite the golden files")
)

// This file tests the catalogue's scenarios that need locks of libraries.

func TestDeterminism(t *testing.T) { suites.CheckDeterminism(t, *repeats, suites.OfLibraries) }

func TestScenariosComeToWhatTheyExpect(t *testing.T) {
	suites.CheckExpectations(t, *seeds, suites.OfLibraries)
}

func TestEveryFaultMatters(t *testing.T) { suites.CheckEveryFaultMatters(t, suites.OfLibraries) }

// No run ends before a fault that has an end: what the lock and its clients do after the
// fault is part of the scenario.
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

// A reader that has seen a run up to a moment knows what the history of the whole run says
// about that moment.
func TestReadersKnowThePast(t *testing.T) {
	if p := suites.CompareReaders(t, suites.LibraryScenarios()); p.Keys == 0 {
		t.Errorf("%+v: no key existed at any moment, so nothing was compared", p)
	}
}

// The following tests check the reports of the scenarios that are about libraries.

func TestGolden(t *testing.T) { suites.CheckGolden(t, suites.LibraryScenarios(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) {
	suites.CheckExplanations(t, suites.LibraryScenarios())
}

func TestEveryScenarioIsDrawn(t *testing.T) { suites.CheckDrawings(t, suites.LibraryScenarios()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) {
	suites.CheckSavedTraces(t, suites.LibraryScenarios())
}
