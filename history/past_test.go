package history_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
)

// A reader that follows a run knows the same as a history of the whole trace, except for
// what needs hindsight. The counts show that the scenarios contain what is compared.
func TestReadersAgreeWithHistory(t *testing.T) {
	scenarios := suites.RunnableScenarios()
	if testing.Short() {
		scenarios = scenarios[:8]
	}
	if p := suites.CompareReaders(t, scenarios); p.Moments == 0 || p.Keys == 0 || p.OnDownNodes == 0 || p.Hindsight == 0 {
		t.Errorf("the scenarios compared %+v, want more than zero of each", p)
	}
}
