package consul_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// These are the rules that the suite finds violated by uses of the library's Lock, by test
// case. In a use that always unlocks and has the default lock-delay it finds only one
// thing: the loss is reported when an answer shows it, and not while no answer comes.
// Answers that are lost or late for up to twice the TTL arrive before another client can
// hold the lock.
var finds = map[string]roof.Findings{
	"consul": {
		"catalogue/same-leader/heeds": {"section-exclusion"},
		"catalogue/same-leader/late":  {"section-exclusion"},
	},
	// A holder that is notified of a loss because the library could not read the key, and
	// does not unlock, leaves a lock that the library keeps renewing.
	"consul without lost-unlock": {
		"errors/restart":      {"progress"},
		"errors/meanwhile":    {"progress"},
		"errors/work":         {"progress"},
		"lost-reply/acquire":  {"progress"},
		"node-down/acquire":   {"progress"},
		"node-down/meanwhile": {"progress"},
		"node-down/work":      {"progress"},
	},
	// Without the delay the next client is granted the lock before the holder is notified:
	// an answer closes Lock's channel, and nobody checks the time.
	"consul without lock-delay": {
		"silence/acquire": {"section-exclusion"},
		"pause/acquire":   {"section-exclusion"},
		"pause/work":      {"section-exclusion"},
	},
}

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue run only with the lock as it is mostly used.
func TestSuite(t *testing.T) {
	for name, finds := range finds {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Consul, Notifies: true, Tokens: true, Stories: roof.OutsideCatalogue}
			if name == "consul" {
				config.Stories = roof.IsGeneral
			}
			roof.CheckFindings(t, name, config, finds, false)
		})
	}
}
