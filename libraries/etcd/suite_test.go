package etcd_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// These are the rules that the suite finds violated in the library's locks, by test case.
// They have five causes.
//
//   - A failed release leaves the key, and the session lives on: no other process gets the
//     lock as long as this process lives, and if the process asks again it holds the lock
//     with the same token. A user has to end the session then.
//   - A request with the session that holds the lock is granted immediately.
//   - A mutex that is unlocked twice deletes its session's key, even if the session has
//     acquired the lock anew in between. Resign of an election checks the owner.
//   - The loss is reported up to a second after the lease has expired. The lease ends one TTL
//     after a keep-alive was sent, not after its answer arrived.
//   - Nobody checks whether the session still lives when the answer that grants the lock
//     comes late: the lock that is returned has ended. A holder that is notified immediately,
//     and stops, has achieved nothing.
var (
	findings = roof.Findings{
		"silence/work":           {"section-exclusion"},
		"silence/meanwhile":      {"section-exclusion"},
		"late-request/meanwhile": {"section-exclusion"},
		"late/acquire":           {"section-exclusion", "progress"},
		"pause/acquire":          {"section-exclusion"},
		"pause/work":             {"section-exclusion"},
	}
	waitingFindings = roof.Findings{
		"contexts/cancelled-before": {"progress"},
		"errors/acquire":            {"progress"},
		"errors/meanwhile":          {"progress"},
		"errors/release":            {"progress", "token-order"},
		"handles":                   {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"late-reply/acquire":        {"section-exclusion"},
		"lost-request/release":      {"progress", "token-order"},
		"node-down/release":         {"progress", "token-order"},
	}
	tryFindings = roof.Findings{
		"errors/meanwhile":     {"progress", "token-order"},
		"errors/release":       {"progress", "token-order"},
		"handles":              {"lease-exclusion", "section-exclusion", "token-order"},
		"late-reply/acquire":   {"section-exclusion"},
		"lost-request/release": {"progress", "token-order"},
		"node-down/release":    {"progress", "token-order"},
		"silence/acquire":      {"section-exclusion"},
	}
	mutexFindings = roof.Findings{
		"release-again": {"lease-exclusion", "section-exclusion", "release-ownership"},
	}
	electionFindings = roof.Findings{
		"late-request/acquire": {"section-exclusion"},
		"late-reply/release":   {"progress"},
	}
)

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue run on three members, in ./libraries.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.Etcd, Notifies: true, Tokens: true, Stories: roof.OutsideCatalogue}
	for name, finds := range map[string]roof.Findings{
		"etcd":          findings.Merge(waitingFindings).Merge(mutexFindings),
		"etcd-trylock":  findings.Merge(tryFindings).Merge(mutexFindings),
		"etcd-election": findings.Merge(waitingFindings).Merge(electionFindings),
	} {
		t.Run(name, func(t *testing.T) {
			roof.CheckFindings(t, name, config, finds, false)
		})
	}
}
