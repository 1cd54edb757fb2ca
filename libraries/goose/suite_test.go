package goose_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// These variables are the rules that the suite finds violated in the locks, by test case.
// The violations have four causes.
//
//   - The reply that grants the row contains the end of the lease, and the library ignores it. If
//     the reply is late, the lease has ended already when the work begins.
//   - A heartbeat renews nothing if its context ended with the attempt. A client that works for
//     longer than the lease then shares the lock with the next client. The test case with a late
//     request has such a client.
//   - If the context of an attempt ends while its INSERT is under way, the attempt fails, and the
//     library does not delete the row, which stays until its lease ends.
//   - A connection whose unlock has failed returns to the pool with the lock. No other client gets
//     the lock while the process runs.
var (
	lateAnswers = suites.Findings{
		"late/acquire":       {"section-exclusion"},
		"late-reply/acquire": {"section-exclusion"},
		"silence/acquire":    {"section-exclusion"},
		"pause/acquire":      {"section-exclusion"},
	}
	keptRow = suites.Findings{
		"contexts/ended-meanwhile": {"key left behind"},
		"cancelled/acquire":        {"key left behind"},
	}
	// The library cuts a lease off to whole seconds: int(d.Seconds()). Heartbeats hide
	// that.
	noHeartbeat = suites.Findings{
		"late-request/acquire": {"section-exclusion"},
		"ttl/fraction":         {"lease-exclusion", "section-exclusion"},
	}
	keptLock = suites.Findings{"errors/acquire": {"progress"}, "errors/release": {"progress"}}
)

var subjects = []struct {
	kind   string
	config locktest.Config
	finds  suites.Findings
	// catalogue means that the suite also runs the test cases of the catalogue.
	catalogue bool
}{
	{kind: "goose-table", finds: lateAnswers.Merge(keptRow), catalogue: true},
	{kind: "goose-table without lasting-context", finds: lateAnswers.Merge(keptRow).Merge(noHeartbeat)},
	{kind: "goose-table without own-handle", finds: lateAnswers.Merge(keptRow)},
	{kind: "goose-session", config: locktest.Config{Endless: true}},
	{kind: "goose-session without discard", config: locktest.Config{Endless: true}, finds: keptLock},
}

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
