package checks

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// What the lock costs in traffic: commands that clients sent to Redis nodes, to
// count tokens too. Those that set a connection up and what nodes send to their
// replicas do not count.
var lockCommands = measure{
	name:  "lock-commands",
	title: "commands that clients sent to Redis nodes",
	take:  takeLockCommands,
}

func takeLockCommands(h *history) Measure {
	role := map[string]trace.Role{}
	nodes := 0
	for _, p := range h.trace.Processes {
		role[p.Name] = p.Role
		if p.Role == trace.RoleNode {
			nodes++
		}
	}
	if nodes == 0 {
		return absent("there are no Redis nodes")
	}
	var sent int64
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		if ev.Kind == trace.KindSend && !ev.Handshake &&
			role[ev.Process] == trace.RoleClient && role[ev.Peer] == trace.RoleNode {
			sent++
		}
	}
	m := Measure{
		Figures: []Figure{{"sent", Count, sent}},
		text:    fmt.Sprint(sent),
	}
	if granted := int64(len(h.sections)); granted > 0 {
		each := ratio(sent, granted)
		m.Figures = append(m.Figures, Figure{"per section granted", Count, each})
		m.text += fmt.Sprintf(", %d per section granted", each)
	}
	return m
}
