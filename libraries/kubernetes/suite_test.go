package kubernetes_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with leader election without being told: by story, the rules that
// fail. All of it are these.
//
//   - An identity is one holder. Who asks for it twice in one process has it twice, and who
//     leads again because its release has failed leads on in the same term: leaseTransitions
//     counts changes of the holder's name. Elections with a name each have none of this.
//   - Who has been paused is told when it runs again, and releases with ReleaseOnCancel what is
//     somebody else's by then: the release takes out whatever name is there.
//   - Without a timeout of the requests, which NewFromKubeconfig sets and rest.Config does not,
//     nobody looks at the time when the answer comes late by which one leads.
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
	ofPatience = roof.Findings{
		"late-reply/acquire": {"section-exclusion"},
		"silence/acquire":    {"lease-exclusion", "section-exclusion"},
		"pause/acquire":      {"section-exclusion"},
		"pause/release":      {"release-ownership"},
	}
)

// The suite finds in the current release what is known of it, and nothing else. Those of the
// catalogue are told to the election as it is mostly used.
func TestSuite(t *testing.T) {
	for name, finds := range map[string]roof.Findings{
		"kubernetes":                         findings,
		"kubernetes without request-timeout": findings.And(ofPatience),
	} {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Kubernetes, Notifies: true, Tokens: true, Stories: roof.OwnStories}
			if name == "kubernetes" {
				config.Stories = roof.NobodysStories
			}
			roof.Finds(t, name, config, finds, false)
		})
	}
}
