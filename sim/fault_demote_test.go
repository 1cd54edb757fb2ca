package sim_test

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/sim"
)

// Only a master with a replica can be demoted, and only if its server supports it.
func TestDemoteIsRefused(t *testing.T) {
	nodes := map[string]sim.Node{
		"scribe-1": {Name: "scribe-1", System: "scribe"},
		"scribe-2": {Name: "scribe-2", System: "scribe", ReplicaOf: "scribe-1"},
	}
	processes := sim.Topology{Nodes: nodes}
	for node, want := range map[string]string{
		"scribe-1": "demote: scribe-1 is a scribe, which cannot become a replica later",
		"scribe-2": "demote: scribe-2 has no replica that could take its place",
		"":         "demote",
	} {
		if err := (sim.Fault{Action: &sim.Demote{Node: node}}).Check(processes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("demote %q: the error is %v, want one that contains %q", node, err, want)
		}
	}
}
