package goose_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite is known to find in the locks: by test case, the rules that fail.
//
//   - The answer that grants the row contains the end of the lease, and the library ignores it.
//     After a late answer, the lease has ended already when the work begins.
//   - A heartbeat whose context ended with the attempt renews nothing. A client that works for
//     longer than the lease then shares the lock with the next one. The test case with a late
//     request has such a client.
//   - A connection whose unlock has failed returns to the pool with the lock. No other client gets
//     the lock while the process runs.
var (
	lateAnswers = roof.Findings{
		"late/acquire":       {"section-exclusion"},
		"late-reply/acquire": {"section-exclusion"},
		"silence/acquire":    {"section-exclusion"},
		"pause/acquire":      {"section-exclusion"},
	}
	// The library gives its database a lease in whole seconds: int(d.Seconds()). Heartbeats
	// hide it.
	noHeartbeat = roof.Findings{
		"late-request/acquire": {"section-exclusion"},
		"ttl/fraction":         {"lease-exclusion", "section-exclusion"},
	}
	keptLock = roof.Findings{"errors/acquire": {"progress"}, "errors/release": {"progress"}}
)

var subjects = []struct {
	kind   string
	config locktest.Config
	finds  roof.Findings
	// catalogue runs the test cases of the catalogue as well.
	catalogue bool
}{
	{kind: "goose-table", finds: lateAnswers, catalogue: true},
	{kind: "goose-table without lasting-context", finds: lateAnswers.Merge(noHeartbeat)},
	{kind: "goose-table without own-handle", finds: lateAnswers},
	{kind: "goose-session", config: locktest.Config{Endless: true}},
	{kind: "goose-session without discard", config: locktest.Config{Endless: true}, finds: keptLock},
}

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
