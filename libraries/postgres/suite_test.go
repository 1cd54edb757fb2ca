package postgres_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// subjects are the locks of the suite with what it is known to find in them: by test case,
// the rules that fail.
//
//   - A failed unlock leaves the lock to a connection that stays open. No other client gets the
//     lock while the process runs. The user has to close the connection then.
//   - A holder may count its lease from the arrival of the answer, or begin its transaction before
//     the request. It then believes in a lease that the server has ended already.
//
// A lease row that counts from the call has neither problem. A row that is locked for a
// transaction has neither, with a timeout or without.
var subjects = []struct {
	kind   string
	config locktest.Config
	finds  roof.Findings
	// catalogue runs the test cases of the catalogue as well.
	catalogue bool
}{
	{kind: "postgres-lease", config: row, catalogue: true},
	{kind: "postgres-lease without count-from-call", config: row, finds: roof.Findings{
		"late/acquire":       {"lease-exclusion", "section-exclusion"},
		"late-reply/acquire": {"lease-exclusion", "section-exclusion"},
		"pause/acquire":      {"lease-exclusion", "section-exclusion"},
		"pause/extend":       {"lease-exclusion", "section-exclusion"},
	}},
	{kind: "postgres-lease-begun", config: row, finds: roof.Findings{
		"late-reply/acquire": {"lease-exclusion", "section-exclusion"},
	}},
	{kind: "postgres-advisory", config: locktest.Config{Endless: true, Tokens: true, OwnClock: true}, finds: roof.Findings{
		"errors/release": {"progress"},
	}, catalogue: true},
	{kind: "postgres-row-elsewhere", config: locktest.Config{Endless: true, Tokens: true, OwnClock: true}},
	{kind: "postgres-row-timeout", config: locktest.Config{OwnClock: true}},
}

var row = locktest.Config{Extends: true, Tokens: true, OwnClock: true}

// TestSuite checks that the suite finds in the locks what is known of them, and nothing
// else.
func TestSuite(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.kind, func(t *testing.T) {
			s.config.System, s.config.Stories = locks.Postgres, roof.OutsideCatalogue
			if s.catalogue {
				s.config.Stories = roof.IsGeneral
			}
			roof.CheckFindings(t, s.kind, s.config, s.finds, false)
		})
	}
}
