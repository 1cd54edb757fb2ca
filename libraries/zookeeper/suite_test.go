package zookeeper_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with the recipes without being told: by story, the rules that
// fail. All of it are these three.
//
//   - The loss is told when the client has a connection again. With one server it waits for a
//     second first.
//   - A node whose deletion fails stands as long as its session lives, which is as long as the
//     process: whoever uses the library's lock has to ask again.
//   - So does the node of an attempt that fails after it was made: the library does not
//     delete it (pull request 237 of samuel/go-zookeeper, from which go-zookeeper/zk comes;
//     open as of v1.0.4).
//
// Ours asks again, and has only the first; and as it looks only once at a node that it has
// made, what it gets may be over when an answer comes late. Who is told so at once, and stops,
// has got nothing done.
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

// The suite finds in the current release what is known of it, and nothing else. The stories
// of the catalogue are told on three members, in ./libraries.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper, Notifies: true, Tokens: true, Stories: roof.OwnStories}
	for name, finds := range map[string]roof.Findings{
		"zookeeper": ofTheLibrary, "zookeeper-czxid": ofTheLibrary, "zookeeper-naive": ofOurs,
	} {
		t.Run(name, func(t *testing.T) {
			roof.Finds(t, name, config, findings.And(finds), false)
		})
	}
}
