package consul_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with uses of the library's Lock without being told: by story, the
// rules that fail. In one that always unlocks, and with the lock-delay that is the default, it
// finds nothing but that it tells of a loss when an answer says so, and as long as none comes
// says nothing: the answers that are lost or late for up to twice the TTL come before anybody
// else can have the lock.
var finds = map[string]roof.Findings{
	"consul": {
		"catalogue/same-leader/heeds": {"section-exclusion"},
		"catalogue/same-leader/late":  {"section-exclusion"},
	},
	// Who is told of a loss, because the library could not look, and does not unlock, leaves
	// a lock that the library goes on renewing.
	"consul without lost-unlock": {
		"errors/restart":      {"progress"},
		"errors/meanwhile":    {"progress"},
		"errors/work":         {"progress"},
		"lost-reply/acquire":  {"progress"},
		"node-down/acquire":   {"progress"},
		"node-down/meanwhile": {"progress"},
		"node-down/work":      {"progress"},
	},
	// With no delay the next one is in when the holder hears of it: Lock's channel is closed
	// by an answer, and nobody looks at the time.
	"consul without lock-delay": {
		"silence/acquire": {"section-exclusion"},
		"pause/acquire":   {"section-exclusion"},
		"pause/work":      {"section-exclusion"},
	},
}

// The suite finds in the current release what is known of it, and nothing else. Those of the
// catalogue are told to the lock as it is mostly used.
func TestSuite(t *testing.T) {
	for name, finds := range finds {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Consul, Notifies: true, Tokens: true, Stories: roof.OwnStories}
			if name == "consul" {
				config.Stories = roof.NobodysStories
			}
			roof.Finds(t, name, config, finds, false)
		})
	}
}
