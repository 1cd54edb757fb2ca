package history_test

import (
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A server is lost if it is down at the end of the run and no replica has taken its place.
func TestLostServers(t *testing.T) {
	lock := trace.LockInfo{Slots: []trace.SlotInfo{{Node: "A"}, {Node: "B"}, {Node: "C"}}}
	cluster := trace.LockInfo{Slots: []trace.SlotInfo{{Node: "cluster"}}, Members: []string{"A", "B"}}
	for _, test := range []struct {
		name        string
		lock        trace.LockInfo
		events      []trace.Event
		lost, total int
	}{
		{"one of three nodes crashes", lock, []trace.Event{{Kind: trace.KindCrash, Process: "A"}}, 1, 3},
		{"a node crashes and restarts", lock, []trace.Event{{Kind: trace.KindCrash, Process: "A"}, {Kind: trace.KindRestart, Process: "A"}}, 0, 3},
		{"a node crashes, restarts and crashes again", lock, []trace.Event{{Kind: trace.KindCrash, Process: "A"}, {Kind: trace.KindRestart, Process: "A"}, {Kind: trace.KindCrash, Process: "A"}}, 1, 3},
		{"a client crashes", lock, []trace.Event{{Kind: trace.KindCrash, Process: "c1"}}, 0, 3},
		{"a member of a cluster crashes", cluster, []trace.Event{{Kind: trace.KindCrash, Process: "B"}}, 1, 2},
		{"a node crashes, and a replica replaces it", lock, []trace.Event{{Kind: trace.KindCrash, Process: "A"}, {Kind: trace.KindPromote, Process: "R", Peer: "A"}}, 0, 3},
	} {
		for i := range test.events {
			test.events[i].Seq = i + 1
		}
		if lost, total := history.New(&trace.Trace{Locks: []trace.LockInfo{test.lock}, Events: test.events}).LostServers(); lost != test.lost || total != test.total {
			t.Errorf("%s: %d of %d servers are lost, want %d of %d", test.name, lost, total, test.lost, test.total)
		}
	}
}
