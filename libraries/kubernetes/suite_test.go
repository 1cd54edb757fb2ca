package kubernetes_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// The following variables are the rules that the suite finds violated by leader election, by
// test case. The violations have three causes.
//
//   - To client-go, clients with the same identity are the same holder. If two elections of
//     one process use the same identity, both hold the lock. If a release fails, and the same
//     identity leads again, the term is the same as before, because leaseTransitions counts
//     only changes of the identity. If each election has its own identity, none of this
//     happens.
//   - A paused holder is notified only when it runs again. With ReleaseOnCancel, it then
//     releases another client's lock, because the release removes any identity from the
//     Lease, not only its own.
//   - The answer that makes a client the leader may arrive late, and nothing checks how much
//     time has passed. A request timeout would prevent that. NewFromKubeconfig sets one, but
//     rest.Config does not.
var (
	findings = suites.Findings{
		"handles":              {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"lost-request/release": {"token-order"},
		"late-request/release": {"token-order"},
		"late-reply/release":   {"token-order"},
		"silence/release":      {"token-order"},
		"errors/release":       {"token-order"},
		"node-down/release":    {"token-order"},
		"pause/release":        {"release-ownership", "token-order"},
		"pause/meanwhile":      {"section-exclusion", "release-ownership", "lease-exclusion"},
		"pause/work":           {"section-exclusion", "release-ownership", "lease-exclusion"},
	}
	withoutTimeoutFindings = suites.Findings{
		"late-reply/acquire": {"section-exclusion"},
		"silence/acquire":    {"lease-exclusion", "section-exclusion"},
		"pause/acquire":      {"section-exclusion"},
		"pause/release":      {"release-ownership"},
	}
)

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue are run only with the most common use of leader election.
func TestSuite(t *testing.T) {
	for name, finds := range map[string]suites.Findings{
		"kubernetes":                         findings,
		"kubernetes without request-timeout": findings.Merge(withoutTimeoutFindings),
	} {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Kubernetes, Notifies: true, Tokens: true, Stories: suites.OutsideCatalogue}
			if name == "kubernetes" {
				config.Stories = suites.IsGeneral
			}
			suites.CheckFindings(t, name, config, finds, false)
		})
	}
}
