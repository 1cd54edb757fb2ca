package history

import "github.com/locksim/locksim/trace"

// asides are events that stand for themselves: nothing else has to be read to understand
// one. Each list is in order.
type asides struct {
	clients, services, storage, syncs []*trace.Event
}

func (h *History) aside() asides {
	return h.asides.of(func() asides {
		var a asides
		for i := range h.Trace.Events {
			switch ev := &h.Trace.Events[i]; ev.Kind {
			case trace.KindCancel, trace.KindLost, trace.KindDone, trace.KindRanOn:
				a.clients = append(a.clients, ev)
			case trace.KindStrip:
				a.services = append(a.services, ev)
			case trace.KindRevert, trace.KindForgetToken:
				a.storage = append(a.storage, ev)
			case trace.KindSync:
				a.syncs = append(a.syncs, ev)
			}
		}
		return a
	})
}

// OfClients are what clients did or were told besides their steps, in order: that one
// cancelled a call, learnt that its lease is lost, ran on while it was paused, or was done.
func (h *History) OfClients() []*trace.Event { return h.aside().clients }

// OfServices are what services did to the requests that they pass on, in order: that one
// was stripped of its token.
func (h *History) OfServices() []*trace.Event { return h.aside().services }

// StorageLosses are the events with which the storage came to know less than it had known,
// in order: of the versions of an object, or of the tokens that it had seen.
func (h *History) StorageLosses() []*trace.Event { return h.aside().storage }

// Syncs are the events with which nodes wrote to their disks, in order.
func (h *History) Syncs() []*trace.Event { return h.aside().syncs }
