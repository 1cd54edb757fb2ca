package kubernetes

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// recordChange records in the trace what a change of a Lease means for the lock: a renewal,
// a loss, a grant, or a loss and a grant. old and current may be nil.
//
// The server never ends a Lease. A client replaces another client's identity by its own
// when it finds, by its own clock, that the lease has expired. The trace gets two events:
// first the grant of the other client expires, and then this client gets a new grant.
func (s *leases) recordChange(at string, old, current *storedLease, by *trace.Actor) {
	oldHolder, newHolder := holderOf(old), holderOf(current)
	ev := trace.Event{Key: at, By: by}
	if oldHolder != "" && oldHolder == newHolder {
		current.owner = old.owner
		ev.Kind, ev.Value, ev.Owner, ev.TTL = trace.KindTouch, s.holderName(newHolder), current.owner, current.duration()
		s.host.Emit(ev)
		return
	}
	if oldHolder != "" {
		ev.Kind, ev.Value, ev.Owner = trace.KindDelete, s.holderName(oldHolder), old.owner
		if newHolder != "" {
			ev.Kind = trace.KindExpire
		}
		s.host.Emit(ev)
	}
	if newHolder != "" {
		current.owner = by
		ev.Kind, ev.Value, ev.Owner, ev.TTL = trace.KindSet, s.holderName(newHolder), by, current.duration()
		s.host.Emit(ev)
	}
}

// holderOf returns the identity of the holder; "" if the Lease does not exist or nobody
// holds it.
func holderOf(k *storedLease) string {
	if k == nil {
		return ""
	}
	return k.holder()
}

// holderName returns the name of a holder in the trace.
func (s *leases) holderName(holder string) string { return s.host.Names().Value(holder) }

// aliveEvents returns the event for what a client learns from the answer to its write: it holds the
// Lease, for the Lease's duration since the request was sent. The result is nil if nobody holds the
// Lease, or if its duration is not positive.
func (s *leases) aliveEvents(l *lease) []trace.Event {
	if l.holder() == "" || l.duration() <= 0 {
		return nil
	}
	return []trace.Event{{
		Kind: trace.KindAlive, Peer: s.host.Node().Name, TTL: l.duration(),
		Session: s.host.Names().Name("session", locks.KubernetesSession(l.Metadata.Name, l.holder())),
	}}
}
