package postgres_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// subjects are the locks that the suite tests. finds are the rules that it finds violated in
// them, by test case. The violations have three causes.
//
//   - A failed unlock leaves the lock to a connection that stays open. No other client gets the
//     lock while the process runs. The user has to close the connection then.
//
//   - A holder may count its lease from the arrival of the reply. Or it may begin its transaction
//     long before its request, so that the server counts the lease from that earlier time. Then
//     the holder believes that it holds a lease that the server has ended already.
//
//   - The recipe of a lease row does not delete the row of an attempt whose reply did not come. It
//     stays until its lease ends, and no other client gets the lock before.
//
// A lease row that counts from the call avoids the first two. So does a row that is locked for a
// transaction, with a timeout or without.
var subjects = []struct {
	kind   string
	config locktest.Config
	finds  suites.Findings
	// catalogue: the suite also runs the test cases of the catalogue.
	catalogue bool
}{
	{kind: "postgres-lease", config: row, catalogue: true, finds: suites.Findings{
		"contexts/ended-meanwhile": {"key left behind"},
		"lost-reply/acquire":       {"key left behind"},
		"late-reply/acquire":       {"key left behind"},
		"cancelled/acquire":        {"key left behind"},
	}},
	{kind: "postgres-lease without count-from-call", config: row, finds: suites.Findings{
		"late/acquire":             {"lease-exclusion", "section-exclusion"},
		"late-reply/acquire":       {"lease-exclusion", "section-exclusion", "key left behind"},
		"pause/acquire":            {"lease-exclusion", "section-exclusion"},
		"pause/extend":             {"lease-exclusion", "section-exclusion"},
		"contexts/ended-meanwhile": {"key left behind"},
		"lost-reply/acquire":       {"key left behind"},
		"cancelled/acquire":        {"key left behind"},
	}},
	{kind: "postgres-lease-begun", config: row, finds: suites.Findings{
		"late/acquire":       {"key left behind"},
		"late-reply/acquire": {"lease-exclusion", "section-exclusion", "key left behind"},
		"lost-reply/acquire": {"key left behind"},
		"cancelled/acquire":  {"key left behind"},
		"pause/acquire":      {"key left behind"},
	}},
	{kind: "postgres-advisory", config: locktest.Config{Endless: true, Tokens: true, OwnClock: true}, finds: suites.Findings{
		"errors/release": {"progress"},
	}, catalogue: true},
	{kind: "postgres-row-elsewhere", config: locktest.Config{Endless: true, Tokens: true, OwnClock: true}},
	{kind: "postgres-row-timeout", config: locktest.Config{OwnClock: true}},
}

// row is the configuration of the suite for the locks that are a lease row.
var row = locktest.Config{Extends: true, Tokens: true, OwnClock: true}

// TestSuite checks that the suite finds the known violations in the locks, and no others.
func TestSuite(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.kind, func(t *testing.T) {
			s.config.System, s.config.Stories = locks.Postgres, suites.OutsideCatalogue
			if s.catalogue {
				s.config.Stories = suites.IsGeneral
			}
			suites.CheckFindings(t, s.kind, s.config, s.finds, false)
		})
	}
}
