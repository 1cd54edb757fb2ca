package sqlite_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// TestSuite checks that the suite finds the known violations in the locks, and no others. The
// known violation is a hang: a process cannot cancel a request to the file system, whatever
// its deadline is, so the process hangs if the file is on another machine that does not
// answer. The scenarios of the catalogue are run only with the lease row.
func TestSuite(t *testing.T) {
	hangs := suites.Findings{"contexts/deadline": {"hang"}}
	t.Run("sqlite-lease", func(t *testing.T) {
		config := locktest.Config{System: locks.SQLite, Extends: true, Tokens: true, OwnClock: true, Stories: suites.IsGeneral}
		suites.CheckFindings(t, "sqlite-lease", config, hangs, false)
	})
	t.Run("sqlite-transaction", func(t *testing.T) {
		config := locktest.Config{System: locks.SQLite, Endless: true, OwnClock: true, Stories: suites.OutsideCatalogue}
		suites.CheckFindings(t, "sqlite-transaction", config, hangs, false)
	})
}
