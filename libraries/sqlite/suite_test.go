package sqlite_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// The suite finds in the locks what is known of them, and nothing else: nobody can take back
// what a process asks of a file, whatever its deadline, and where the file is on another machine,
// and that is silent, the process hangs. The stories of the catalogue are told to the lease row.
func TestSuite(t *testing.T) {
	hangs := roof.Findings{"contexts/deadline": {"hang"}}
	t.Run("sqlite-lease", func(t *testing.T) {
		config := locktest.Config{System: locks.SQLite, Extends: true, Tokens: true, OwnClock: true, Stories: roof.NobodysStories}
		roof.Finds(t, "sqlite-lease", config, hangs, false)
	})
	t.Run("sqlite-transaction", func(t *testing.T) {
		config := locktest.Config{System: locks.SQLite, Endless: true, OwnClock: true, Stories: roof.OwnStories}
		roof.Finds(t, "sqlite-transaction", config, hangs, false)
	})
}
