package checks

import "github.com/locksim/locksim/trace"

// What a lock costs on the network between its clients and its cluster: messages both ways
// and their bytes, for each time that it is released. What sets a connection up does not
// count; what keeps a session alive does.
var traffic = measure{
	name:  "traffic",
	title: "messages between clients and the members of the cluster, and their bytes",
	take:  takeTraffic,
}

func takeTraffic(h *inquiry) Measure {
	if !h.onCluster() {
		return absent(NoCluster)
	}
	var sent, bytes int64
	for _, m := range h.Messages() {
		between := h.IsClient(m.From) && h.Role(m.To) == trace.RoleNode || h.Role(m.From) == trace.RoleNode && h.IsClient(m.To)
		if between && !m.Handshake() {
			sent++
			bytes += int64(m.Sent.Bytes)
		}
	}
	m := Measure{
		Figures: []Figure{{"messages", Count, sent}, {"bytes", Count, bytes}},
		Says:    Because(MessagesAndBytes, sent, bytes),
	}
	if n := int64(len(h.releases())); n > 0 {
		each, bytesEach := ratio(sent, n), ratio(bytes, n)
		m.Figures = append(m.Figures, Figure{"messages per release", Count, each}, Figure{"bytes per release", Count, bytesEach})
		m.Says = m.Says.And(PerRelease, each, bytesEach)
	}
	return m
}
