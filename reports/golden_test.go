package reports_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/catalogue"
	"github.com/locksim/locksim/internal/told"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The reports of the catalogue. Those of the scenarios that are about libraries have the
// same tests where the libraries are.

func TestGolden(t *testing.T) { told.Golden(t, catalogue.Playable(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) { told.Explained(t, catalogue.Playable()) }

func TestEveryScenarioIsDrawn(t *testing.T) { told.Drawn(t, catalogue.Playable()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) { told.Saved(t, catalogue.Playable()) }
