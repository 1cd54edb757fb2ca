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
func (s *leases) told(at string, was, is *kept, by *trace.Actor) {
	before, now := holderOf(was), holderOf(is)
	ev := trace.Event{Key: at, By: by}
	if before != "" && before == now {
		is.owner = was.owner
		ev.Kind, ev.Value, ev.Owner, ev.TTL = trace.KindTouch, s.name(now), is.owner, is.lasts()
		s.host.Emit(ev)
		return
	}
	if before != "" {
		ev.Kind, ev.Value, ev.Owner = trace.KindDelete, s.name(before), was.owner
		if now != "" {
			ev.Kind = trace.KindExpire
		}
		s.host.Emit(ev)
	}
	if now != "" {
		is.owner = by
		ev.Kind, ev.Value, ev.Owner, ev.TTL = trace.KindSet, s.name(now), by, is.lasts()
		s.host.Emit(ev)
	}
}

func holderOf(k *kept) string {
	if k == nil {
		return ""
	}
	return k.holder()
}

// holderName returns the name of a holder for the trace.
func (s *leases) name(holder string) string { return s.host.Names().Value(holder) }

// aliveEvents is what a client learns from the answer that it holds a lease: that it does,
// for the lease's duration counted from its request.
func (s *leases) alive(l *lease) []trace.Event {
	if l.holder() == "" || l.lasts() <= 0 {
		return nil
	}
	return []trace.Event{{
		Kind: trace.KindAlive, Peer: s.host.Node().Name, TTL: l.lasts(),
		Session: s.host.Names().Name("session", locks.KubernetesSession(l.Metadata.Name, l.holder())),
	}}
}
