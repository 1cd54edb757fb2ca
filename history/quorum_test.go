package history

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// An acquisition is on a quorum if it ever had keys of its own on enough slots. The keys
// need not exist at the same time.
func TestOnQuorum(t *testing.T) {
	one, two := &trace.Actor{Client: "client-1", Section: 1}, &trace.Actor{Client: "client-1", Section: 2}
	set := func(node string, owner *trace.Actor) trace.Event {
		return trace.Event{Kind: trace.KindSet, Process: node, Key: "x", Owner: owner, By: owner}
	}
	promote := trace.Event{Kind: trace.KindPromote, Process: "replica", Peer: "a"}
	for _, c := range []struct {
		name   string
		events []trace.Event
		want   bool
	}{
		{"one key on three nodes", []trace.Event{set("a", one)}, false},
		{"two keys in turn on one node", []trace.Event{set("a", one), set("a", one)}, false},
		{"two keys on three nodes", []trace.Event{set("a", one), set("c", one)}, true},
		{"one key of the section, and one of another section", []trace.Event{set("a", one), set("b", two)}, false},
		{"one key is removed before the second is set", []trace.Event{set("a", one), {Kind: trace.KindDelete, Process: "a", Key: "x"}, set("b", one)}, true},
		{"one key of the lock, and another key", []trace.Event{set("a", one), {Kind: trace.KindSet, Process: "b", Key: "y", Owner: one}}, false},
		{"one key on a node, and one on a replica", []trace.Event{set("a", one), set("replica", one)}, false},
		{"one key on a node, and one on a replica that was promoted before", []trace.Event{set("b", one), promote, set("replica", one)}, true},
		{"one key on a node, and one on a replica that is promoted later", []trace.Event{set("b", one), set("replica", one), promote}, true},
		{"one key on a node, and one on the replica that replaced that node", []trace.Event{set("a", one), promote, set("replica", one)}, false},
		{"one key on a node, and one on a node that a replica has replaced", []trace.Event{set("b", one), promote, set("a", one)}, false},
	} {
		tr := traceOf(c.events...)
		tr.Locks = []trace.LockInfo{{Name: "L", Quorum: 2, Slots: []trace.SlotInfo{{Node: "a", Key: "x"}, {Node: "b", Key: "x"}, {Node: "c", Key: "x"}}}}
		if got := New(tr).OnQuorum("L")[Acquisition{"client-1", 1}]; got != c.want {
			t.Errorf("%s: on a quorum: %v, want %v", c.name, got, c.want)
		}
	}
}
