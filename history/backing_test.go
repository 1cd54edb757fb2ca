package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/trace"
)

// Nodes back a grant as long as keys of its acquisition really exist on a quorum of the
// lock's slots. client-1's keys are set by the first two events of each case.
func TestBackings(t *testing.T) {
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
		{"both keys stay", nil, "2 to the end"},
		{"a third key is set, and one expires", []trace.Event{keyEventOf(trace.KindSet, "c", holder), keyEventOf(trace.KindExpire, "a", holder)}, "2 to the end"},
		{"one of two keys expires", []trace.Event{keyEventOf(trace.KindExpire, "a", holder)}, "2 to 3 by 3"},
		{"another client's key on the third node expires", []trace.Event{keyEventOf(trace.KindSet, "c", other), keyEventOf(trace.KindExpire, "c", other)}, "2 to the end"},
		{"another client overwrites a key", []trace.Event{keyEventOf(trace.KindSet, "a", other)}, "2 to 3 by 3"},
		{"a key is set again before it has ended", []trace.Event{keyEventOf(trace.KindSet, "a", holder)}, "2 to the end"},
		{"a key is removed and set again", []trace.Event{keyEventOf(trace.KindDelete, "a", holder), keyEventOf(trace.KindSet, "a", holder)}, "2 to 3 by 3, 4 to the end"},
		{"a node crashes and restarts with its key", []trace.Event{crash, restart}, "2 to the end"},
		{"a node crashes and forgets its key", []trace.Event{crash, keyEventOf(trace.KindForget, "b", holder), restart}, "2 to 3 by 4"},
		{"a node crashes for good", []trace.Event{crash}, "2 to 3 by 3"},
		{"a replica without the key is promoted", []trace.Event{{Kind: trace.KindPromote, Process: "d", Peer: "b"}}, "2 to 3 by 3"},
		{"a replica with the key is promoted", []trace.Event{keyEventOf(trace.KindRestore, "d", holder), {Kind: trace.KindPromote, Process: "d", Peer: "b"}}, "2 to the end"},
		{"a key is set on a node that a replica has replaced", []trace.Event{{Kind: trace.KindPromote, Process: "d", Peer: "b"}, keyEventOf(trace.KindSet, "b", holder)}, "2 to 3 by 3"},
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
			t.Errorf("%s: the backings are %s, want %s", c.what, got, c.want)
		}
	}
}

// A grant that never had a quorum has no backing.
func TestNoBackingWithoutQuorum(t *testing.T) {
	world := trace.Trace{Locks: []trace.LockInfo{{Name: "lock", Quorum: 2, Slots: []trace.SlotInfo{{Node: "a", Key: "k"}, {Node: "b", Key: "k"}}}}}
	owner := &trace.Actor{Client: "client-1", Section: 1}
	h := New(numbered(world,
		trace.Event{Kind: trace.KindSet, Process: "a", Key: "k", Owner: owner},
		trace.Event{Kind: trace.KindSet, Process: "b", Key: "another", Owner: owner}))
	if all := h.Backings("lock", Acquisition{"client-1", 1}); len(all) > 0 {
		t.Errorf("a grant with a key on one of two slots has the backings %v, want none", all)
	}
}
