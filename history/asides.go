package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Some events stand for themselves: nothing else has to be read to understand one. They
// are handed out as they are, by what they are about and in order.

// of are all events of some kinds, in order.
func (h *History) of(kinds ...trace.Kind) []*trace.Event {
	var all []*trace.Event
	for _, ev := range h.apart {
		if slices.Contains(kinds, ev.Kind) {
			all = append(all, ev)
		}
	}
	return all
}

// OfClients are what clients did or were told besides their steps: that one cancelled a
// call, learnt that its lease is lost, ran on while it was paused, or was done.
func (h *History) OfClients() []*trace.Event {
	return h.of(trace.KindCancel, trace.KindLost, trace.KindDone, trace.KindRanOn)
}

// Ended are the events with which clients' programs ended: whether all was well, and what
// their errors say.
func (h *History) Ended() []*trace.Event { return h.of(trace.KindDone) }

// RanOnEvents are those with which processes did something while they were paused, one
// for each pause.
func (h *History) RanOnEvents() []*trace.Event { return h.of(trace.KindRanOn) }

// OfServices are what services did to the requests that they pass on: that one was
// stripped of its token.
func (h *History) OfServices() []*trace.Event { return h.of(trace.KindStrip) }

// Served are the requests that the storage answered: their events say what came of them.
func (h *History) Served() []*trace.Event { return h.of(trace.KindServe) }

// Decisions are what the storage did with requests: it answered one ([trace.KindServe]), or
// had checked the token of one in a step of its own ([trace.KindCheck]).
func (h *History) Decisions() []*trace.Event { return h.of(trace.KindServe, trace.KindCheck) }

// StorageLosses are the events with which the storage came to know less than it had known:
// of the versions of an object, or of the tokens that it had seen.
func (h *History) StorageLosses() []*trace.Event {
	return h.of(trace.KindRevert, trace.KindForgetToken)
}

// Reverted are the events with which the storage lost the last versions of objects.
func (h *History) Reverted() []*trace.Event { return h.of(trace.KindRevert) }

// ForgottenTokens are the events with which the storage no longer knew of a token.
func (h *History) ForgottenTokens() []*trace.Event { return h.of(trace.KindForgetToken) }

// Objects are the events that say what the objects were when the run was over.
func (h *History) Objects() []*trace.Event { return h.of(trace.KindObject) }

// Syncs are the events with which nodes wrote to their disks.
func (h *History) Syncs() []*trace.Event { return h.of(trace.KindSync) }

// OfSessions are what clusters told of the sessions of their clients: that one began, or
// ended. Peer is the client.
func (h *History) OfSessions() []*trace.Event {
	return h.of(trace.KindOpen, trace.KindCloseSession, trace.KindExpireSession)
}

// Notified are the events with which clients learnt that something which they watch has
// changed.
func (h *History) Notified() []*trace.Event { return h.of(trace.KindNotify) }

// Led are the events with which members of clusters became their leaders.
func (h *History) Led() []*trace.Event { return h.of(trace.KindLead) }

// Compacted are the events with which clusters forgot what was before some change.
func (h *History) Compacted() []*trace.Event { return h.of(trace.KindCompact) }

// Promotions are the events with which replicas took over: Process is the replica, Peer the
// master that it replaced.
func (h *History) Promotions() []*trace.Event { return h.of(trace.KindPromote) }
