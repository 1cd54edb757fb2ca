package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// lanes are the lifelines of a sequence diagram, from left to right. Lifelines that nothing
// refers to are not drawn. The nodes of the locks share the first lifeline: usually they
// all do the same, and otherwise the text names the node. Then come the clients, the
// services that they call, and the storage. In this order few arrows cross a lifeline.
type lanes struct {
	list      []lane
	laneIndex map[string]int // the index of each process's lane
	// stepLanes are the lanes of the processes to which a step sent requests.
	stepLanes map[story.Step][]int
	// storage are the lanes of the storage.
	storage []int
	// cluster reports whether the first lane represents a cluster with its members.
	cluster bool
}

// A lane is one lifeline. isDrawn reports whether something in the diagram refers to it.
type lane struct {
	processes []string
	role      trace.Role
	isDrawn   bool
}

// newLanes returns the lanes for a run, of which none is drawn yet.
func newLanes(h *history.History) *lanes {
	t := h.Trace
	l := &lanes{laneIndex: map[string]int{}, stepLanes: map[story.Step][]int{}}
	nodes := h.LockNodes()
	for _, keeper := range h.Keepers() {
		if h.Role(keeper) == trace.RoleCluster { // a cluster is represented by its members
			nodes = append([]string{keeper}, nodes...)
		}
	}
	if len(nodes) > 0 {
		l.add(trace.RoleNode, nodes...)
		l.cluster = h.Role(nodes[0]) == trace.RoleCluster
	}
	for _, role := range []trace.Role{trace.RoleNode, trace.RoleClient, trace.RoleService, trace.RoleStorage} {
		for _, p := range t.Processes {
			if _, known := l.laneIndex[p.Name]; p.Role == role && !known {
				l.add(role, p.Name)
			}
		}
	}
	if len(l.list) == 0 {
		l.add("", "world")
	}
	for i, lane := range l.list {
		if lane.role == trace.RoleStorage {
			l.storage = append(l.storage, i)
		}
	}
	for _, m := range h.Messages() {
		if m.Sent.Reply || m.Sent.Handshake {
			continue
		}
		step := story.Step{Acquisition: history.Acquisition{Client: m.From, Section: m.Sent.Section}, Step: m.Sent.Step}
		for _, to := range l.lanesOf(m.To) {
			if !slices.Contains(l.stepLanes[step], to) {
				l.stepLanes[step] = append(l.stepLanes[step], to)
			}
		}
	}
	return l
}

// add adds a lane that some processes share.
func (l *lanes) add(role trace.Role, processes ...string) {
	for _, p := range processes {
		l.laneIndex[p] = len(l.list)
	}
	l.list = append(l.list, lane{processes: processes, role: role})
}

// lanesOf returns the lane of a process, as a list of one; nil if it has none.
func (l *lanes) lanesOf(process string) []int {
	if i, ok := l.laneIndex[process]; ok {
		return []int{i}
	}
	return nil
}

// isShared reports whether a process shares its lane with other processes.
func (l *lanes) isShared(process string) bool {
	return len(l.list[l.laneIndex[process]].processes) > 1
}

// servers returns the lanes to which a client sends the requests of its step; ev is an event of
// the step. They are the lanes of the storage, of services between the client and the storage, or
// of the lock's nodes.
func (l *lanes) servers(ev *trace.Event) []int {
	if ev.Step.AtStorage() {
		return l.storage
	}
	return l.stepLanes[story.Step{Acquisition: history.Acquisition{Client: ev.Process, Section: ev.Section}, Step: ev.Step}]
}

// outerNames returns the names of the first and the last drawn lane. Mermaid writes a note
// over all lanes between the two.
func (l *lanes) outerNames() string {
	first, last := 0, 0
	for i, lane := range l.list {
		if lane.isDrawn {
			last = i
		}
	}
	for !l.list[first].isDrawn && first < last {
		first++
	}
	return l.spanNames(first, last)
}

// spanNames returns the names of two lanes as Mermaid writes the space from one to the
// other; one name if they are the same lane.
func (l *lanes) spanNames(first, last int) string {
	if first == last {
		return l.name(first)
	}
	return l.name(first) + "," + l.name(last)
}

// name returns the name of a lane in the diagram. It also marks the lane as drawn, because
// something now refers to it.
func (l *lanes) name(i int) string {
	l.list[i].isDrawn = true
	return fmt.Sprintf("p%d", i+1)
}

// declarations returns the lines of Mermaid that declare the drawn lanes.
func (l *lanes) declarations() string {
	var b strings.Builder
	for i, lane := range l.list {
		if !lane.isDrawn {
			continue
		}
		kind, title := "participant", lane.processes[0]
		if lane.role == trace.RoleClient {
			kind = "actor"
		}
		if n := len(lane.processes); n > 1 && !(i == 0 && l.cluster) {
			title = story.Count(n, "node")
		}
		fmt.Fprintf(&b, "  %s p%d as %s\n", kind, i+1, mermaidLines(title, mermaidName, mermaidColumns))
	}
	return b.String()
}
