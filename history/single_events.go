package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Some events can be understood by themselves, without reading any other event. The methods
// below return them as they are, grouped by subject and in order.

// eventsOf returns all events of some kinds, in order. It sorts the events by their kinds once,
// because a report asks for events of some kinds at every release of a lock.
func (h *History) eventsOf(kinds ...trace.Kind) (all []*trace.Event) {
	byKind := h.eventsByKind.get(func() map[trace.Kind][]*trace.Event {
		byKind := map[trace.Kind][]*trace.Event{}
		for _, ev := range h.nonMessages {
			byKind[ev.Kind] = append(byKind[ev.Kind], ev)
		}
		return byKind
	})
	for _, kind := range kinds {
		all = append(all, byKind[kind]...)
	}
	if len(kinds) > 1 {
		slices.SortFunc(all, func(a, b *trace.Event) int { return a.Seq - b.Seq })
	}
	return all
}

// ClientEvents returns the events of clients other than their steps: a client cancelled a
// call, learnt that its lease is lost, ran on while it was paused, or ended its program.
func (h *History) ClientEvents() []*trace.Event {
	return h.eventsOf(trace.KindCancel, trace.KindLost, trace.KindDone, trace.KindRanOn)
}

// RanOnEvents returns the events with which processes did something while they were paused,
// at most one for each pause.
func (h *History) RanOnEvents() []*trace.Event { return h.eventsOf(trace.KindRanOn) }

// ServiceEvents returns the events with which services changed the requests that they pass
// on: they removed the token of a request.
func (h *History) ServiceEvents() []*trace.Event { return h.eventsOf(trace.KindStrip) }

// ServedRequests returns the events with which the storage answered requests.
func (h *History) ServedRequests() []*trace.Event { return h.eventsOf(trace.KindServe) }

// StorageDecisions returns the events with which the storage answered a request ([trace.KindServe])
// or checked the token of a request in a separate step ([trace.KindCheck]).
func (h *History) StorageDecisions() []*trace.Event {
	return h.eventsOf(trace.KindServe, trace.KindCheck)
}

// StorageLosses returns the events with which the storage lost versions of an object, or
// tokens that it had seen.
func (h *History) StorageLosses() []*trace.Event {
	return h.eventsOf(trace.KindRevert, trace.KindForgetToken)
}

// Reverts returns the events with which the storage lost the last versions of objects.
func (h *History) Reverts() []*trace.Event { return h.eventsOf(trace.KindRevert) }

// ForgottenTokens returns the events with which the storage lost a token.
func (h *History) ForgottenTokens() []*trace.Event { return h.eventsOf(trace.KindForgetToken) }

// FinalObjects returns the events that give the state of the objects at the end of the run.
func (h *History) FinalObjects() []*trace.Event { return h.eventsOf(trace.KindObject) }

// Syncs returns the events with which nodes wrote to their disks.
func (h *History) Syncs() []*trace.Event { return h.eventsOf(trace.KindSync) }

// SessionEvents returns the events with which clusters began or ended sessions. Peer is the
// session's client.
func (h *History) SessionEvents() []*trace.Event {
	return h.eventsOf(trace.KindOpen, trace.KindCloseSession, trace.KindExpireSession)
}

// Notifications returns the events with which clients learnt that something they watch has
// changed.
func (h *History) Notifications() []*trace.Event { return h.eventsOf(trace.KindNotify) }

// LeaderChanges returns the events with which members of clusters became leaders.
func (h *History) LeaderChanges() []*trace.Event { return h.eventsOf(trace.KindLead) }

// Compactions returns the events with which clusters discarded old revisions.
func (h *History) Compactions() []*trace.Event { return h.eventsOf(trace.KindCompact) }

// Promotions returns the events with which replicas took over. Process is the replica, Peer
// the master that it replaced.
func (h *History) Promotions() []*trace.Event { return h.eventsOf(trace.KindPromote) }
