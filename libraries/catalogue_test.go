package libraries_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
)

var (
	repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run; with other locks than the scenario's own a tenth as often, but at least once; -short repeats it once, with its own lock alone")
	seeds   = flag.Uint64("seeds", 3, "on how many seeds each scenario is run; with other locks than its own on a tenth of them, but at least on 10, or on all if there are fewer")
	update  = flag.Bool("update", false, "rewrite the golden files")
)

// This file tests the catalogue's scenarios that need locks of libraries.

func TestDeterminism(t *testing.T) { roof.CheckDeterminism(t, *repeats, roof.OfLibraries) }

func TestScenariosComeToWhatTheyExpect(t *testing.T) {
	roof.AsExpected(t, *seeds, roof.OfLibraries)
}

func TestEveryFaultMatters(t *testing.T) { roof.EveryFaultMatters(t, roof.OfLibraries) }

// No run ends before a fault that has an end: what the lock and its clients do after the
// fault is part of the scenario.
func TestFaultsAreOver(t *testing.T) {
	results, err := roof.Results()
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

func TestReadersKnowThePast(t *testing.T) {
	if p := roof.KnowThePast(t, roof.AboutLibraries()); p.Keys == 0 {
		t.Errorf("%+v: the worlds show nothing", p)
	}
}

// The following tests check the reports of the scenarios that are about libraries.

func TestGolden(t *testing.T) { roof.Golden(t, roof.AboutLibraries(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) { roof.Explained(t, roof.AboutLibraries()) }

func TestEveryScenarioIsDrawn(t *testing.T) { roof.Drawn(t, roof.AboutLibraries()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) { roof.Saved(t, roof.AboutLibraries()) }
