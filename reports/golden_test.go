package reports_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// These tests check reports of the catalogue against golden files and against each other.
// Scenarios about a library are tested in the same way in the package of that library.

func TestGolden(t *testing.T) { suites.CheckGolden(t, suites.RunnableScenarios(), *update) }

func TestEveryScenarioIsExplained(t *testing.T) {
	suites.CheckExplanations(t, suites.RunnableScenarios())
}

func TestEveryScenarioIsDrawn(t *testing.T) { suites.CheckDrawings(t, suites.RunnableScenarios()) }

func TestEveryScenarioHasAStoryboard(t *testing.T) {
	suites.CheckStoryboards(t, suites.RunnableScenarios())
}

func TestSavedTracesGiveTheSameReports(t *testing.T) {
	suites.CheckSavedTraces(t, suites.RunnableScenarios())
}
