package history

import "github.com/locksim/locksim/trace"

// A Contact is what one end of a connection came to: it was made, or could not be, or it
// ended.
type Contact struct {
	// Event is of kind connect, refuse, close, reset or timeout: Process is the end, Peer the
	// other one.
	Event *trace.Event
	// Waiting: the end had sent a request on the connection, and had no reply to it.
	Waiting bool
}

// Contacts are what the ends of all connections came to, in order.
func (h *History) Contacts() []Contact {
	return h.contacts.of(func() []Contact {
		type end struct {
			process, peer string
			conn          int
		}
		var all []Contact
		waiting := map[end]int{} // for so many replies
		for i := range h.Trace.Events {
			ev := &h.Trace.Events[i]
			at := end{ev.Process, ev.Peer, ev.Conn}
			switch ev.Kind {
			case trace.KindSend:
				if !ev.Reply {
					waiting[at]++
				}
			case trace.KindDeliver:
				if ev.Reply {
					waiting[at]--
				}
			case trace.KindConnect, trace.KindRefuse, trace.KindClose, trace.KindReset, trace.KindTimeout:
				all = append(all, Contact{ev, waiting[at] > 0})
			}
		}
		return all
	})
}
