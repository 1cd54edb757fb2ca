package checks

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// traffic measures what a lock costs on the network between its clients and its nodes: messages in
// both directions, their bytes, and round trips: how often a client sends one or several requests
// at once and waits. Each total is also divided by the number of granted critical sections, and by
// the number of releases. Messages that set up a connection do not count. Messages that keep a
// session alive count, but no client waits for them.
var traffic = measure{
	name:     "traffic",
	title:    "messages between clients and nodes, their bytes, and round trips",
	headline: []string{"messages per section", "round trips per section", "bytes per section"},
	take:     takeTraffic,
}

func takeTraffic(h *judgedRun) Measure {
	var messages, trips int64
	bytes := h.Trace.Bytes
	lastRequest := map[string]time.Duration{} // when each client last sent something
	for m := range h.Sends() {
		isRequest := h.IsClient(m.From) && h.Role(m.To) == trace.RoleNode
		if !isRequest && !(h.Role(m.From) == trace.RoleNode && h.IsClient(m.To)) || m.Sent.Handshake {
			continue
		}
		messages++
		bytes += int64(m.Sent.Bytes)
		if !isRequest || m.Sent.KeepAlive {
			continue
		}
		// Requests that are sent together, such as those to all nodes of Redlock, are one
		// round trip.
		if last, hasAsked := lastRequest[m.From]; !hasAsked || m.Sent.At-last > history.ImmediateWithin {
			trips++
		}
		lastRequest[m.From] = m.Sent.At
	}
	if messages == 0 {
		return noMeasure(noTraffic.Reason())
	}
	m := Measure{Summary: messagesSent.Reason(messages, trips)}
	sections, released := int64(len(h.Sections())), int64(len(h.releaseTimes()))
	add := func(name string, total int64) {
		m.Figures = append(m.Figures, Figure{name, Count, total})
		if sections > 0 {
			m.Figures = append(m.Figures, Figure{name + " per section", Count, ratio(total, sections)})
		}
		if released > 0 {
			m.Figures = append(m.Figures, Figure{name + " per release", Count, ratio(total, released)})
		}
	}
	add("messages", messages)
	add("round trips", trips)
	if released > 0 {
		m.Summary = m.Summary.And(messagesPerRelease.Reason(ratio(messages, released), ratio(trips, released)))
	}
	if bytes == 0 { // a trace written by an earlier version, without lengths of messages
		return m
	}
	add("bytes", bytes)
	m.Summary = m.Summary.And(bytesSent.Reason(bytes))
	if released > 0 {
		m.Summary = m.Summary.And(bytesPerRelease.Reason(ratio(bytes, released)))
	}
	return m
}
