package etcd_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// These are the rules that the suite finds violated in the library's locks, by test case.
// They have five causes.
//
//   - A failed release leaves the key behind, and the session lives on. No other process gets the
//     lock while this process lives. If this process asks again, it holds the lock with the same
//     token. A user has to end the session after a failed release.
//   - A request is granted immediately if its session holds the lock already.
//   - A mutex that is unlocked twice deletes its session's key, even if the session has acquired the
//     lock anew in between. Resign of an election checks the owner first.
//   - The loss is reported up to a second after the lease has expired. The lease ends one TTL after
//     a keep-alive was sent, but the client counts from when its response arrived.
//   - If the response that grants the lock arrives late, nobody checks whether the session still
//     lives. Then the lease of the lock has ended already. A holder that is notified of the loss
//     immediately, and stops, has achieved nothing.
var (
	findings = suites.Findings{
		"silence/work":           {"section-exclusion"},
		"silence/meanwhile":      {"section-exclusion"},
		"late-request/meanwhile": {"section-exclusion"},
		"late/acquire":           {"section-exclusion", "progress"},
		"pause/acquire":          {"section-exclusion"},
		"pause/work":             {"section-exclusion"},
	}
	waitingFindings = suites.Findings{
		"contexts/cancelled-before": {"progress"},
		"errors/acquire":            {"progress"},
		"errors/meanwhile":          {"progress"},
		"errors/release":            {"progress", "token-order"},
		"handles":                   {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"late-reply/acquire":        {"section-exclusion"},
		"lost-request/release":      {"progress", "token-order"},
		"node-down/release":         {"progress", "token-order"},
	}
	tryFindings = suites.Findings{
		"errors/meanwhile":     {"progress", "token-order"},
		"errors/release":       {"progress", "token-order"},
		"handles":              {"lease-exclusion", "section-exclusion", "token-order"},
		"late-reply/acquire":   {"section-exclusion"},
		"lost-request/release": {"progress", "token-order"},
		"node-down/release":    {"progress", "token-order"},
		"silence/acquire":      {"section-exclusion"},
	}
	mutexFindings = suites.Findings{
		"release-again": {"lease-exclusion", "section-exclusion", "release-ownership"},
	}
	electionFindings = suites.Findings{
		"late-request/acquire": {"section-exclusion"},
		"late-reply/release":   {"progress"},
	}
)

// The suite finds these violations in the current release, and no others. The scenarios of
// the catalogue are run on three members by the tests in ./libraries.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.Etcd, Notifies: true, Tokens: true, Stories: suites.OutsideCatalogue}
	for name, finds := range map[string]suites.Findings{
		"etcd":          findings.Merge(waitingFindings).Merge(mutexFindings),
		"etcd-trylock":  findings.Merge(tryFindings).Merge(mutexFindings),
		"etcd-election": findings.Merge(waitingFindings).Merge(electionFindings),
	} {
		t.Run(name, func(t *testing.T) {
			suites.CheckFindings(t, name, config, finds, false)
		})
	}
}
