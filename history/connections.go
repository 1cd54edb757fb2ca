package history

import "github.com/locksim/locksim/trace"

// A ConnectionEvent says what happened to one end of a connection: the connection was made, could
// not be made, or ended.
type ConnectionEvent struct {
	// Event is of kind connect, refuse, close, reset or timeout. Event.Process is this end of the
	// connection, and Event.Peer is the other end.
	Event *trace.Event
	// AwaitsReply says that this end had sent a request on the connection and had no reply
	// to it yet.
	AwaitsReply bool
}

// ConnectionEvents returns what happened to the ends of all connections, in order.
func (h *History) ConnectionEvents() []ConnectionEvent {
	return h.connectionEvents.get(func() []ConnectionEvent {
		type end struct {
			process, peer string
			conn          int
		}
		var all []ConnectionEvent
		waiting := map[end]int{} // how many replies each end waits for
		for i := range h.Trace.Events {
			ev := &h.Trace.Events[i]
			key := end{ev.Process, ev.Peer, ev.Conn}
			switch ev.Kind {
			case trace.KindSend:
				if !ev.Reply {
					waiting[key]++
				}
			case trace.KindDeliver:
				if ev.Reply {
					waiting[key]--
				}
			case trace.KindConnect, trace.KindRefuse, trace.KindClose, trace.KindReset, trace.KindTimeout:
				all = append(all, ConnectionEvent{ev, waiting[key] > 0})
			}
		}
		return all
	})
}
