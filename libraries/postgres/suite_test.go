package postgres_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with the locks without being told: by story, the rules that fail.
//
//   - An unlock that fails leaves the lock to a connection that lives on: nobody gets it any more
//     as long as the process lives. Whoever uses it has to close the connection then.
//   - Who counts from when the answer came, or whose transaction has begun before it asked,
//     believes in a lease that the server has ended already.
//
// A lease row that is counted from the call has none of that, and neither has a row that is
// locked for a transaction, with a timeout or without.
var subjects = []struct {
	kind   string
	config locktest.Config
	finds  roof.Findings
	// catalogue: the stories of the catalogue are told, too.
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

// The suite finds in the locks what is known of them, and nothing else.
func TestSuite(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.kind, func(t *testing.T) {
			s.config.System, s.config.Stories = locks.Postgres, roof.OwnStories
			if s.catalogue {
				s.config.Stories = roof.NobodysStories
			}
			roof.Finds(t, s.kind, s.config, s.finds, false)
		})
	}
}
