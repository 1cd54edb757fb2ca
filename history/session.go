package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// A life is a client's session with a cluster.
type life struct{ client, session string }

// alive takes in that a client knows of a sign of life of its session which the cluster has
// acknowledged: the leases that the session carries last until its TTL has passed since the
// sign was sent. An acknowledgement that comes after a later one says nothing new.
func (r *reading) alive(ev *trace.Event) {
	id := life{ev.Process, ev.Session}
	if was := r.lives[id]; was != nil && was.Expires >= ev.Expires {
		return
	}
	r.lives[id] = ev
	for _, s := range r.sections {
		if s.Client == ev.Process && s.Granted.Session == ev.Session && s.Granted.Ends == nil && MomentOf(ev).Before(s.Lease.Cut) {
			s.Lease.prolong(lasting(ev, ev, ev))
		}
	}
}

// lasting is the declaration, with an event that ended a call, of a lease that lasts as
// long as a session of which a client has heard. The clock by which the client counts is
// of no importance: it is the cluster that ends the session.
func lasting(ev, call, heard *trace.Event) Declaration {
	until := StartOf(heard.Expires)
	return Declaration{Event: ev, Call: call, Until: until, Due: until, Foreseen: until}
}

// Heard is since when a lease counts that ends as a declaration says: since the client sent
// the sign of life that carries its session, or since the call that granted or prolonged it.
func (h *History) Heard(s *Section, d Declaration) Moment {
	for i := range slices.Backward(h.Trace.Events[:d.Event.Seq]) {
		ev := &h.Trace.Events[i]
		if ev.Kind == trace.KindAlive && ev.Process == s.Client && ev.Session == s.Granted.Session && ev.TTL > 0 && StartOf(ev.Expires) == d.Until {
			return StartOf(ev.Expires - ev.TTL)
		}
	}
	return MomentOf(d.Call)
}
