package goose_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with the locks without being told: by story, the rules that fail.
//
//   - The answer that one has the row says until when, and nobody looks: if it was late, the lease
//     has ended already when the work begins.
//   - A heartbeat whose context ended with the attempt prolongs nothing: who works for longer than
//     the lease shares the lock with the next one. A story in which a request is late is the one that
//     has such a client.
//   - A connection whose unlock has failed goes back to the pool with the lock, and nobody else gets
//     that as long as the process lives.
var (
	lateAnswers = roof.Findings{
		"late/acquire":       {"section-exclusion"},
		"late-reply/acquire": {"section-exclusion"},
		"silence/acquire":    {"section-exclusion"},
		"pause/acquire":      {"section-exclusion"},
	}
	// Its database is told a lease of whole seconds: int(d.Seconds()). Heartbeats hide it.
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
	// catalogue: the stories of the catalogue are told, too.
	catalogue bool
}{
	{kind: "goose-table", finds: lateAnswers, catalogue: true},
	{kind: "goose-table without lasting-context", finds: lateAnswers.And(noHeartbeat)},
	{kind: "goose-table without own-handle", finds: lateAnswers},
	{kind: "goose-session", config: locktest.Config{Endless: true}},
	{kind: "goose-session without discard", config: locktest.Config{Endless: true}, finds: keptLock},
}

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
