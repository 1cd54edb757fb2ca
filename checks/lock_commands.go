package checks

import (
	"github.com/locksim/locksim/trace"
)

// lockCommands measures the lock's traffic: requests that clients sent to nodes, including
// those for tokens. Requests that set up a connection do not count, and neither do messages
// from nodes to their replicas.
var lockCommands = measure{
	name:     "lock-commands",
	title:    "requests that clients sent to the nodes that keep the locks",
	headline: []string{"per section granted"},
	take:     takeLockCommands,
}

func takeLockCommands(h *judgedRun) Measure {
	nodes := 0
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleNode {
			nodes++
		}
	}
	if nodes == 0 {
		return noMeasure(noNodes.Reason())
	}
	var sent int64
	for m := range h.Sends() {
		if !m.Sent.Handshake && h.IsClient(m.From) && h.Role(m.To) == trace.RoleNode {
			sent++
		}
	}
	m := Measure{
		Figures: []Figure{{"sent", Count, sent}},
		Summary: plainValue.Reason(sent),
	}
	if granted := int64(len(h.Sections())); granted > 0 {
		perGrant := ratio(sent, granted)
		m.Figures = append(m.Figures, Figure{"per section granted", Count, perGrant})
		m.Summary = m.Summary.And(perSectionGranted.Reason(perGrant))
	}
	return m
}
