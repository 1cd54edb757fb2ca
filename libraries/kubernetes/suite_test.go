package kubernetes_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// These are the rules that the suite finds violated by leader election, by test case. They
// have three causes.
//
//   - An identity is one holder. If two elections of one process use the same identity, both
//     hold the lock, and an election that leads again because its release has failed continues
//     in the same term: leaseTransitions counts changes of the holder's name. Elections with
//     an identity each have none of this.
//   - A paused holder is notified only when it runs again. With ReleaseOnCancel it then
//     releases another client's lock: the release removes whatever name is there.
//   - Without a request timeout, which NewFromKubeconfig sets and rest.Config does not,
//     nobody checks the time when the answer that grants the leadership comes late.
var (
	findings = roof.Findings{
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
	withoutTimeoutFindings = roof.Findings{
		"late-reply/acquire": {"section-exclusion"},
		"silence/acquire":    {"lease-exclusion", "section-exclusion"},
		"pause/acquire":      {"section-exclusion"},
		"pause/release":      {"release-ownership"},
	}
)

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue run only with the election as it is mostly used.
func TestSuite(t *testing.T) {
	for name, finds := range map[string]roof.Findings{
		"kubernetes":                         findings,
		"kubernetes without request-timeout": findings.Merge(withoutTimeoutFindings),
	} {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Kubernetes, Notifies: true, Tokens: true, Stories: roof.OutsideCatalogue}
			if name == "kubernetes" {
				config.Stories = roof.IsGeneral
			}
			roof.CheckFindings(t, name, config, finds, false)
		})
	}
}
