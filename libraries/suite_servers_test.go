package libraries_test

import "github.com/locksim/locksim/internal/locksuite"

// What the suite finds in the locks on PostgreSQL, Consul and Kubernetes, by story; what its
// causes are stands beside the suites of their modules. In a lease row it finds nothing.
var (
	// Consul's lock tells of a loss when an answer says so, and as long as none comes it says
	// nothing.
	onConsul = locksuite.Findings{
		"catalogue/same-leader/heeds": {"section-exclusion"},
		"catalogue/same-leader/late":  {"section-exclusion"},
	}
	onAConnection = locksuite.Findings{
		"errors/release": {"progress"},
	}
	onKubernetes = locksuite.Findings{
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
)
