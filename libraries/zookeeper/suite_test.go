package zookeeper_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// These are the rules that the suite finds violated by the recipes, by test case. They have
// three causes.
//
//   - The loss is reported only when the client has a connection again. With one server it
//     waits for a second first.
//   - A node whose deletion fails exists as long as its session, which lives as long as the
//     process: a user of the library's lock has to repeat the release.
//   - The same is true of the node of an attempt that fails after creating it: the library does
//     not delete it (pull request 237 of samuel/go-zookeeper, from which go-zookeeper/zk comes;
//     open as of v1.0.4).
//
// Our own recipe repeats requests, and has only the first. It checks a node that it has
// created only once, so the lock that it returns may have ended when an answer comes late.
// A holder that is notified immediately, and stops, has achieved nothing.
var (
	findings = roof.Findings{
		"pause/work":   {"section-exclusion"},
		"silence/work": {"section-exclusion"},
	}
	ofTheLibrary = roof.Findings{
		"errors/release":       {"progress"},
		"late-request/release": {"progress"},
		"lost-request/release": {"progress"},
		"node-down/acquire":    {"progress"},
		"node-down/release":    {"progress"},
	}
	ofOurs = roof.Findings{
		"late/acquire":  {"section-exclusion", "progress"},
		"pause/acquire": {"section-exclusion"},
	}
)

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue run on three members, in ./libraries.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper, Notifies: true, Tokens: true, Stories: roof.OutsideCatalogue}
	for name, finds := range map[string]roof.Findings{
		"zookeeper": ofTheLibrary, "zookeeper-czxid": ofTheLibrary, "zookeeper-naive": ofOurs,
	} {
		t.Run(name, func(t *testing.T) {
			roof.CheckFindings(t, name, config, findings.Merge(finds), false)
		})
	}
}
