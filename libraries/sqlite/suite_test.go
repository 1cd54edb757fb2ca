package sqlite_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// TestSuite checks that the suite finds in the locks what is known of them, and nothing
// else. A process cannot cancel a request to the file system, whatever its deadline. If the
// file is on another machine that does not answer, the process hangs. The lease row also
// runs the test cases of the catalogue.
func TestSuite(t *testing.T) {
	hangs := roof.Findings{"contexts/deadline": {"hang"}}
	t.Run("sqlite-lease", func(t *testing.T) {
		config := locktest.Config{System: locks.SQLite, Extends: true, Tokens: true, OwnClock: true, Stories: roof.IsGeneral}
		roof.CheckFindings(t, "sqlite-lease", config, hangs, false)
	})
	t.Run("sqlite-transaction", func(t *testing.T) {
		config := locktest.Config{System: locks.SQLite, Endless: true, OwnClock: true, Stories: roof.OutsideCatalogue}
		roof.CheckFindings(t, "sqlite-transaction", config, hangs, false)
	})
}
