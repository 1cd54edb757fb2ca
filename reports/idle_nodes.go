package reports

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// idleNodes are the nodes that take no part in a run, such as four of five where a lock
// that needs one node tells the story: no lock keeps its grants there, no message goes
// there, and nothing happens to them. They have no place in a report.
func idleNodes(t *trace.Trace) []string {
	busy := map[string]bool{}
	for _, l := range t.Locks {
		for _, s := range l.Slots {
			busy[s.Node] = true
		}
	}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Kind == trace.KindStrike && 0 < ev.Fault && ev.Fault <= len(t.Faults) {
			for _, process := range slices.Concat(t.Faults[ev.Fault-1].Targets...) {
				busy[process] = true
			}
		}
		if !ofEveryNode(ev) {
			busy[ev.Process], busy[ev.Peer] = true, true
		}
	}
	var idle []string
	for _, p := range t.Processes {
		if p.Role == trace.RoleNode && !busy[p.Name] && !slices.Contains(idle, p.Name) {
			idle = append(idle, p.Name)
		}
	}
	return idle
}

// ofEveryNode reports whether an event says nothing about a node, because it is one that
// every node has: its clock is set at the start, its disk turns, and clients that come
// up connect to it.
func ofEveryNode(ev *trace.Event) bool {
	switch ev.Kind {
	case trace.KindSync, trace.KindConnect, trace.KindRefuse, trace.KindClose, trace.KindReset, trace.KindTimeout:
		return true
	case trace.KindClock:
		return ev.Clocks == nil || ev.Clocks.Why == ""
	}
	return ev.Handshake
}
