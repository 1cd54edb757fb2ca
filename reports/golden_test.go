package reports_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// These tests check reports of the catalogue against golden files and against each other.
// Scenarios about a library are tested in the same way in the package of that library.

func TestGolden(t *testing.T) { roof.Golden(t, roof.Playable(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) { roof.Explained(t, roof.Playable()) }

func TestEveryScenarioIsDrawn(t *testing.T) { roof.Drawn(t, roof.Playable()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) { roof.Saved(t, roof.Playable()) }
