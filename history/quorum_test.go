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
		{"on a minority", []trace.Event{set("a", one)}, false},
		{"on one node twice", []trace.Event{set("a", one), set("a", one)}, false},
		{"on two of three", []trace.Event{set("a", one), set("c", one)}, true},
		{"another section's key is another's", []trace.Event{set("a", one), set("b", two)}, false},
		{"on one after the other", []trace.Event{set("a", one), {Kind: trace.KindDelete, Process: "a", Key: "x"}, set("b", one)}, true},
		{"another key is none of its slots", []trace.Event{set("a", one), {Kind: trace.KindSet, Process: "b", Key: "y", Owner: one}}, false},
		{"a replica is no slot", []trace.Event{set("a", one), set("replica", one)}, false},
		{"one that took over is", []trace.Event{set("b", one), promote, set("replica", one)}, true},
		{"with the keys that it has", []trace.Event{set("b", one), set("replica", one), promote}, true},
		{"but it is the same slot", []trace.Event{set("a", one), promote, set("replica", one)}, false},
		{"and its master is none any more", []trace.Event{set("b", one), promote, set("a", one)}, false},
	} {
		tr := traceOf(c.events...)
		tr.Locks = []trace.LockInfo{{Name: "L", Quorum: 2, Slots: []trace.SlotInfo{{Node: "a", Key: "x"}, {Node: "b", Key: "x"}, {Node: "c", Key: "x"}}}}
		if got := New(tr).OnQuorum("L")[Acquisition{"client-1", 1}]; got != c.want {
			t.Errorf("%s: on a quorum %v", c.name, got)
		}
	}
}
