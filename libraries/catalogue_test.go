package libraries_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/catalogue"
	"github.com/locksim/locksim/internal/told"
)

var (
	repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run; with other locks than the scenario's own a tenth as often, but at least once; -short repeats it once, with its own lock alone")
	seeds   = flag.Uint64("seeds", 3, "on how many seeds each scenario is run; with other locks than its own on a tenth, but at least on 10, if it is as many")
	update  = flag.Bool("update", false, "rewrite the golden files")
)

// The catalogue, with the locks of libraries.

func TestDeterminism(t *testing.T) { catalogue.Deterministic(t, *repeats, catalogue.OfLibraries) }

func TestScenariosComeToWhatTheyExpect(t *testing.T) {
	catalogue.AsExpected(t, *seeds, catalogue.OfLibraries)
}

func TestEveryFaultMatters(t *testing.T) { catalogue.EveryFaultMatters(t, catalogue.OfLibraries) }

func TestFaultsAreOver(t *testing.T) { catalogue.FaultsAreOver(t) }

func TestReadersKnowThePast(t *testing.T) {
	if p := catalogue.KnowThePast(t, catalogue.AboutLibraries()); p.Keys == 0 {
		t.Errorf("%+v: the worlds show nothing", p)
	}
}

// The reports of the scenarios that are about libraries.

func TestGolden(t *testing.T) { told.Golden(t, catalogue.AboutLibraries(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) { told.Explained(t, catalogue.AboutLibraries()) }

func TestEveryScenarioIsDrawn(t *testing.T) { told.Drawn(t, catalogue.AboutLibraries()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) { told.Saved(t, catalogue.AboutLibraries()) }
