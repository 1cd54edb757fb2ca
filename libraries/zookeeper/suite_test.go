package zookeeper_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// The following variables are the rules that the suite finds violated by the recipes, by test
// case. The violations have three causes.
//
//   - A client learns that its session has expired only when it has a connection again. With
//     one server, it first waits for a second.
//   - If the deletion of a node fails, the node exists as long as its session, and the session
//     lives as long as the process. So a user of the library's lock has to repeat a release
//     that fails.
//   - If an attempt fails after it has created its node, the library does not delete the node
//     (pull request 237 of samuel/go-zookeeper, from which go-zookeeper/zk comes; open as of
//     v1.0.4).
//
// Our own recipe repeats requests, so only the first cause applies to it. It checks only once
// whether its node still exists. So if an answer arrives late, the lock that it returns may
// have been lost already. The holder is then notified immediately, and stops without having
// done its work.
var (
	findings = suites.Findings{
		"pause/work":   {"section-exclusion"},
		"silence/work": {"section-exclusion"},
	}
	ofTheLibrary = suites.Findings{
		"errors/release":       {"progress"},
		"late-request/release": {"progress"},
		"lost-request/release": {"progress"},
		"node-down/acquire":    {"progress"},
		"node-down/release":    {"progress"},
	}
	ofOurs = suites.Findings{
		"late/acquire":  {"section-exclusion", "progress"},
		"pause/acquire": {"section-exclusion"},
	}
)

// The suite finds the known violations in the current release, and no others. The scenarios
// of the catalogue are not run here; ./libraries runs them on three members.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper, Notifies: true, Tokens: true, Stories: suites.OutsideCatalogue}
	for name, finds := range map[string]suites.Findings{
		"zookeeper": ofTheLibrary, "zookeeper-czxid": ofTheLibrary, "zookeeper-naive": ofOurs,
	} {
		t.Run(name, func(t *testing.T) {
			suites.CheckFindings(t, name, config, findings.Merge(finds), false)
		})
	}
}
