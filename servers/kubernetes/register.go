package kubernetes

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// recordChange records a change of a lease's holder.
//
// The server never ends a lease. A client that replaces another client's name by its own
// has found, by its own clock, that the other's lease has expired. This is recorded first
// as the expiry of the other's grant, and then as a new grant.
func (s *leases) recordChange(at string, old, current *storedLease, by *trace.Actor) {
	before, now := holderOf(old), holderOf(current)
	ev := trace.Event{Key: at, By: by}
	if before != "" && before == now {
		current.owner = old.owner
		ev.Kind, ev.Value, ev.Owner, ev.TTL = trace.KindTouch, s.holderName(now), current.owner, current.duration()
		s.host.Emit(ev)
		return
	}
	if before != "" {
		ev.Kind, ev.Value, ev.Owner = trace.KindDelete, s.holderName(before), old.owner
		if now != "" {
			ev.Kind = trace.KindExpire
		}
		s.host.Emit(ev)
	}
	if now != "" {
		current.owner = by
		ev.Kind, ev.Value, ev.Owner, ev.TTL = trace.KindSet, s.holderName(now), by, current.duration()
		s.host.Emit(ev)
	}
}

func holderOf(k *storedLease) string {
	if k == nil {
		return ""
	}
	return k.holder()
}

// holderName returns the name of a holder for the trace.
func (s *leases) holderName(holder string) string { return s.host.Names().Value(holder) }

// aliveEvents is what a client learns from the answer that it holds a lease: that it does,
// for the lease's duration counted from its request.
func (s *leases) aliveEvents(l *lease) []trace.Event {
	if l.holder() == "" || l.duration() <= 0 {
		return nil
	}
	return []trace.Event{{
		Kind: trace.KindAlive, Peer: s.host.Node().Name, TTL: l.duration(),
		Session: s.host.Names().Name("session", locks.KubernetesSession(l.Metadata.Name, l.holder())),
	}}
}
