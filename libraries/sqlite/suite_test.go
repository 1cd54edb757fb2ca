package sqlite_test

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/locksuite"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// The suite finds in the lock what is known of it, and nothing else: nobody can take back what a
// process asks of a file, whatever its deadline, and where the file is on another machine, and
// that is silent, the process hangs. The lease row goes through it in ./libraries.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.SQLite, Endless: true, OwnClock: true}
	locksuite.Finds(t, "sqlite-transaction", config, locksuite.Findings{"contexts/deadline": {"hang"}}, inCatalogue, false)
}

func inCatalogue(story string) bool { return strings.HasPrefix(story, "catalogue/") }
