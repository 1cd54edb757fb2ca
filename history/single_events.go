package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Some events can be understood by themselves, without reading any other event. The methods
// below return them as they are, grouped by subject and in order.

// eventsOf returns all events of some kinds, in order.
func (h *History) of(kinds ...trace.Kind) []*trace.Event {
	var all []*trace.Event
	for _, ev := range h.apart {
		if slices.Contains(kinds, ev.Kind) {
			all = append(all, ev)
		}
	}
	return all
}

// ClientEvents returns the events of clients other than their steps: a client cancelled a
// call, learnt that its lease is lost, ran on while it was paused, or ended its program.
func (h *History) OfClients() []*trace.Event {
	return h.of(trace.KindCancel, trace.KindLost, trace.KindDone, trace.KindRanOn)
}

// ProgramEnds returns the events with which clients' programs ended. They contain whether
// the program succeeded, and its error.
func (h *History) Ended() []*trace.Event { return h.of(trace.KindDone) }

// RanOnEvents returns the events with which processes did something while they were paused,
// at most one for each pause.
func (h *History) RanOnEvents() []*trace.Event { return h.of(trace.KindRanOn) }

// ServiceEvents returns the events with which services changed the requests that they pass
// on: they removed the token of a request.
func (h *History) OfServices() []*trace.Event { return h.of(trace.KindStrip) }

// ServedRequests returns the events with which the storage answered requests.
func (h *History) Served() []*trace.Event { return h.of(trace.KindServe) }

// StorageDecisions returns the events with which the storage answered a request
// ([trace.KindServe]) or checked its token in a step of its own ([trace.KindCheck]).
func (h *History) Decisions() []*trace.Event { return h.of(trace.KindServe, trace.KindCheck) }

// StorageLosses returns the events with which the storage lost versions of an object, or
// tokens that it had seen.
func (h *History) StorageLosses() []*trace.Event {
	return h.of(trace.KindRevert, trace.KindForgetToken)
}

// Reverts returns the events with which the storage lost the last versions of objects.
func (h *History) Reverted() []*trace.Event { return h.of(trace.KindRevert) }

// ForgottenTokens returns the events with which the storage lost a token.
func (h *History) ForgottenTokens() []*trace.Event { return h.of(trace.KindForgetToken) }

// FinalObjects returns the events that give the state of the objects at the end of the run.
func (h *History) Objects() []*trace.Event { return h.of(trace.KindObject) }

// Syncs returns the events with which nodes wrote to their disks.
func (h *History) Syncs() []*trace.Event { return h.of(trace.KindSync) }

// SessionEvents returns the events with which clusters began or ended sessions. Peer is the
// session's client.
func (h *History) OfSessions() []*trace.Event {
	return h.of(trace.KindOpen, trace.KindCloseSession, trace.KindExpireSession)
}

// Notifications returns the events with which clients learnt that something they watch has
// changed.
func (h *History) Notified() []*trace.Event { return h.of(trace.KindNotify) }

// LeaderChanges returns the events with which members of clusters became leaders.
func (h *History) Led() []*trace.Event { return h.of(trace.KindLead) }

// Compactions returns the events with which clusters discarded old revisions.
func (h *History) Compacted() []*trace.Event { return h.of(trace.KindCompact) }

// Promotions returns the events with which replicas took over. Process is the replica, Peer
// the master that it replaced.
func (h *History) Promotions() []*trace.Event { return h.of(trace.KindPromote) }
