package kubernetes

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// told tells the world of a change to a lease: who holds it.
//
// The server ends no lease. Whoever puts its own name in place of another's has found, by its
// own clock, that the other's was over: that is told as the end that it found, and then as
// its own beginning.
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

// name is what people are shown of who holds a lease.
func (s *leases) name(holder string) string { return s.host.Names().Value(holder) }

// alive is what a client learns from the answer that it holds a lease: that it does until as
// long after it has asked as it has said.
func (s *leases) alive(l *lease) []trace.Event {
	if l.holder() == "" || l.lasts() <= 0 {
		return nil
	}
	return []trace.Event{{
		Kind: trace.KindAlive, Peer: s.host.Node().Name, TTL: l.lasts(),
		Session: s.host.Names().Name("session", locks.KubernetesSession(l.Metadata.Name, l.holder())),
	}}
}
