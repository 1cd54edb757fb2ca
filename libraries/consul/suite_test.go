package consul_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// finds are the rules that the suite finds violated, by the way in which the library's Lock
// is used and by test case. If a client always unlocks and the lock-delay is the default,
// the suite finds only one thing: the library notices a loss by an answer, so it does not
// notice it while no answer arrives. Answers that are lost or late for up to twice the TTL
// are no problem: they arrive before another client can hold the lock.
var finds = map[string]suites.Findings{
	"consul": {
		"catalogue/same-leader/heeds": {"section-exclusion"},
		"catalogue/same-leader/late":  {"section-exclusion"},
	},
	// The library reports a loss if it could not read the key. If the holder then does not
	// unlock, the library keeps renewing the session, and the lock stays held.
	"consul without lost-unlock": {
		"errors/restart":      {"progress"},
		"errors/meanwhile":    {"progress"},
		"errors/work":         {"progress"},
		"lost-reply/acquire":  {"progress"},
		"node-down/acquire":   {"progress"},
		"node-down/meanwhile": {"progress"},
		"node-down/work":      {"progress"},
	},
	// Without the delay, the next client is granted the lock before the holder is notified:
	// the library notices the loss only by an answer, and does not check the time.
	"consul without lock-delay": {
		"silence/acquire": {"section-exclusion"},
		"pause/acquire":   {"section-exclusion"},
		"pause/work":      {"section-exclusion"},
	},
}

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue are run only with the most common use of the lock.
func TestSuite(t *testing.T) {
	for name, finds := range finds {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Consul, Notifies: true, Tokens: true, Stories: suites.OutsideCatalogue}
			if name == "consul" {
				config.Stories = suites.IsGeneral
			}
			suites.CheckFindings(t, name, config, finds, false)
		})
	}
}
