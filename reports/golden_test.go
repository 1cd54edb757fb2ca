package reports_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// These tests check reports of the catalogue against golden files and against each other.
// Scenarios about a library are tested in the same way in the package of that library.

func TestGolden(t *testing.T) { roof.CheckGolden(t, roof.RunnableScenarios(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) { roof.CheckExplanations(t, roof.RunnableScenarios()) }

func TestEveryScenarioIsDrawn(t *testing.T) { roof.CheckDrawings(t, roof.RunnableScenarios()) }

func TestSavedTracesGiveTheSameReports(t *testing.T) {
	roof.CheckSavedTraces(t, roof.RunnableScenarios())
}
