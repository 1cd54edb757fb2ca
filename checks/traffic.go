package checks

import "github.com/locksim/locksim/trace"

// What a lock costs on the network between its clients and its nodes: messages both ways
// and, of a lock that is kept in a cluster, their bytes, for each time that it is released.
// What sets a connection up does not count; what keeps a session alive does.
var traffic = measure{
	name:  "traffic",
	title: "messages between clients and nodes, and their bytes where nodes are members of a cluster",
	take:  takeTraffic,
}

func takeTraffic(h *inquiry) Measure {
	var sent, bytes int64
	for _, m := range h.Messages() {
		between := h.IsClient(m.From) && h.Role(m.To) == trace.RoleNode || h.Role(m.From) == trace.RoleNode && h.IsClient(m.To)
		if between && !m.Handshake() {
			sent++
			bytes += int64(m.Sent.Bytes)
		}
	}
	if sent == 0 {
		return absent(NoTraffic)
	}
	m := Measure{Figures: []Figure{{"messages", Count, sent}}, Says: Because(Messages, sent)}
	n := int64(len(h.releases()))
	if n > 0 {
		each := ratio(sent, n)
		m.Figures = append(m.Figures, Figure{"messages per release", Count, each})
		m.Says = m.Says.And(MessagesPerRelease, each)
	}
	if !h.onCluster() {
		return m
	}
	m.Figures = append(m.Figures, Figure{"bytes", Count, bytes})
	m.Says = m.Says.And(Bytes, bytes)
	if n > 0 {
		each := ratio(bytes, n)
		m.Figures = append(m.Figures, Figure{"bytes per release", Count, each})
		m.Says = m.Says.And(BytesPerRelease, each)
	}
	return m
}
