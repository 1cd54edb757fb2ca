package reports_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The reports of the catalogue. Those of the scenarios that are about libraries have the
// same tests where the libraries are.

func TestGolden(t *testing.T) { roof.Golden(t, roof.Playable(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) { roof.Explained(t, roof.Playable()) }

func TestEveryScenarioIsDrawn(t *testing.T) { roof.Drawn(t, roof.Playable()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) { roof.Saved(t, roof.Playable()) }
