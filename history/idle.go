package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// IdleNodes returns the nodes that take no part in a run, such as four of five nodes if the
// lock needs only one. No lock keeps its grants there, no message goes there, and nothing
// happens to them. Reports leave them out.
func (h *History) IdleNodes() []string {
	t, busy := h.Trace, map[string]bool{}
	for _, l := range t.Locks {
		for _, s := range l.Slots {
			busy[s.Node] = true
		}
		for _, m := range l.Members {
			busy[m] = true
		}
	}
	for m := range h.Sends() {
		if !m.Sent.Handshake { // every client connects to every node when it starts
			busy[m.From], busy[m.To] = true, true
		}
	}
	for _, c := range h.KeyChanges() {
		busy[c.Node] = true
	}
	for _, s := range h.Spells() {
		busy[s.Process] = true
	}
	for _, ev := range h.Promotions() {
		busy[ev.Process], busy[ev.Peer] = true, true
	}
	for _, ev := range h.ClockChanges() {
		if ev.Clocks.Why != "" { // a clock event without a cause only sets the clock at the start
			busy[ev.Process] = true
		}
	}
	for _, a := range h.Acts() {
		for _, process := range slices.Concat(h.Fault(a.Fault).Targets...) {
			busy[process] = true
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
