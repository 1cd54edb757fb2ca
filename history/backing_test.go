package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/trace"
)

// Nodes back a grant as long as keys of its acquisition really exist on a quorum of the
// lock's slots. client-1's keys are set by the first two events of each case.
func TestBacked(t *testing.T) {
	world := trace.Trace{Locks: []trace.LockInfo{{Name: "lock", Quorum: 2, Slots: []trace.SlotInfo{{Node: "a", Key: "k"}, {Node: "b", Key: "k"}, {Node: "c", Key: "k"}}}}}
	holder, other := &trace.Actor{Client: "client-1", Section: 1}, &trace.Actor{Client: "client-2", Section: 1}
	keyEventOf := func(kind trace.Kind, node string, owner *trace.Actor) trace.Event {
		return trace.Event{Kind: kind, Process: node, Key: "k", Owner: owner}
	}
	crash, restart := trace.Event{Kind: trace.KindCrash, Process: "b"}, trace.Event{Kind: trace.KindRestart, Process: "b"}
	set := []trace.Event{keyEventOf(trace.KindSet, "a", holder), keyEventOf(trace.KindSet, "b", holder)}
	for _, c := range []struct {
		what string
		then []trace.Event
		want string // the backings: from and to as the Seq of events, and the event that ended each
	}{
		{"they stay", nil, "2 to the end"},
		{"one more, and one less", []trace.Event{keyEventOf(trace.KindSet, "c", holder), keyEventOf(trace.KindExpire, "a", holder)}, "2 to the end"},
		{"one expires", []trace.Event{keyEventOf(trace.KindExpire, "a", holder)}, "2 to 3 by 3"},
		{"another's does", []trace.Event{keyEventOf(trace.KindSet, "c", other), keyEventOf(trace.KindExpire, "c", other)}, "2 to the end"},
		{"another overwrites it", []trace.Event{keyEventOf(trace.KindSet, "a", other)}, "2 to 3 by 3"},
		{"it is set again at once", []trace.Event{keyEventOf(trace.KindSet, "a", holder)}, "2 to the end"},
		{"it is set again later", []trace.Event{keyEventOf(trace.KindDelete, "a", holder), keyEventOf(trace.KindSet, "a", holder)}, "2 to 3 by 3, 4 to the end"},
		{"a node is down, and has it still", []trace.Event{crash, restart}, "2 to the end"},
		{"a node is down, and forgets it", []trace.Event{crash, keyEventOf(trace.KindForget, "b", holder), restart}, "2 to 3 by 4"},
		{"a node is down for good", []trace.Event{crash}, "2 to 3 by 3"},
		{"a replica takes over that has it not", []trace.Event{{Kind: trace.KindPromote, Process: "d", Peer: "b"}}, "2 to 3 by 3"},
		{"a replica takes over that has it", []trace.Event{keyEventOf(trace.KindRestore, "d", holder), {Kind: trace.KindPromote, Process: "d", Peer: "b"}}, "2 to the end"},
		{"it comes back to what is no slot any more", []trace.Event{{Kind: trace.KindPromote, Process: "d", Peer: "b"}, keyEventOf(trace.KindSet, "b", holder)}, "2 to 3 by 3"},
	} {
		h := New(numbered(world, slices.Concat(set, c.then)...))
		got := ""
		for i, b := range h.Backings("lock", Acquisition{"client-1", 1}) {
			if i > 0 {
				got += ", "
			}
			if got += fmt.Sprintf("%d to ", b.From.Seq); b.To == Never {
				got += "the end"
			} else {
				got += fmt.Sprintf("%d by %d", b.To.Seq, b.EndedBy.Seq)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A grant that never had a quorum has no backing.
func TestNeverBacked(t *testing.T) {
	world := trace.Trace{Locks: []trace.LockInfo{{Name: "lock", Quorum: 2, Slots: []trace.SlotInfo{{Node: "a", Key: "k"}, {Node: "b", Key: "k"}}}}}
	owner := &trace.Actor{Client: "client-1", Section: 1}
	h := New(numbered(world,
		trace.Event{Kind: trace.KindSet, Process: "a", Key: "k", Owner: owner},
		trace.Event{Kind: trace.KindSet, Process: "b", Key: "another", Owner: owner}))
	if all := h.Backings("lock", Acquisition{"client-1", 1}); len(all) > 0 {
		t.Errorf("it is backed: %v", all)
	}
}
