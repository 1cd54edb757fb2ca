package history

import (
	"iter"

	"github.com/locksim/locksim/trace"
)

// A Message is one message on its way from one process to another.
type Message struct {
	From, To string
	// Sent is when it was sent. Held is when a fault held it back; nil if none did.
	Sent, Held *trace.Event
	// Arrived is nil if it never arrived. Lost is the event that says that it will never
	// arrive; nil if there is none.
	Arrived, Lost *trace.Event
}

// MessageHeldBy returns the message that a fault held back as it struck; nil if there is
// none.
func (h *History) MessageHeldBy(a *Act) *Message {
	for _, m := range h.Messages() {
		if m.Held != nil && m.Held.Seq == a.Struck.Seq+1 {
			return m
		}
	}
	return nil
}

// Sends returns all messages that were sent, in order, without Held, Arrived and Lost. So it takes
// less time than [History.Messages].
func (h *History) Sends() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for i := range h.Trace.Events {
			ev := &h.Trace.Events[i]
			if ev.Kind == trace.KindSend && !yield(&Message{From: ev.Process, To: ev.Peer, Sent: ev}) {
				return
			}
		}
	}
}

// Messages returns all messages that were sent, in order.
func (h *History) Messages() []*Message {
	return h.messages.get(func() []*Message {
		type name struct {
			from, to  string
			conn, msg int
			reply     bool
		}
		sent := 0
		for range h.Sends() {
			sent++
		}
		// One allocation for all messages is faster than one for each message, and every run needs
		// this list.
		all, allocated := make([]*Message, 0, sent), make([]Message, sent)
		known := make(map[name]*Message, sent)
		for i := range h.Trace.Events {
			ev := &h.Trace.Events[i]
			switch ev.Kind {
			case trace.KindSend, trace.KindHold, trace.KindLose:
				m := known[name{ev.Process, ev.Peer, ev.Conn, ev.Msg, ev.Reply}]
				switch {
				case ev.Kind == trace.KindSend:
					m = &allocated[len(all)]
					*m = Message{From: ev.Process, To: ev.Peer, Sent: ev}
					known[name{ev.Process, ev.Peer, ev.Conn, ev.Msg, ev.Reply}] = m
					all = append(all, m)
				case m == nil: // the trace begins in the middle
				case ev.Kind == trace.KindHold:
					m.Held = ev
				default:
					m.Lost = ev
				}
			case trace.KindDeliver:
				if m := known[name{ev.Peer, ev.Process, ev.Conn, ev.Msg, ev.Reply}]; m != nil {
					m.Arrived = ev
				}
			}
		}
		return all
	})
}
