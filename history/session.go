package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// A sessionName is the name of a client's session with a cluster. The cluster keeps a session for a
// client that it considers alive.
type sessionName struct{ client, session string }

// recordSignOfLife records that a client learnt that the cluster had acknowledged a sign of life: a
// message that keeps the client's session alive. From then on, the leases that depend on the
// session last until the session's TTL has passed since the client sent the sign. The
// acknowledgement of a sign that was sent before the last known one changes nothing.
func (r *reading) recordSignOfLife(ev *trace.Event) {
	id := sessionName{ev.Process, ev.Session}
	if was := r.signsOfLife[id]; was != nil && was.Expires >= ev.Expires {
		return
	}
	r.signsOfLife[id] = ev
	for _, s := range r.sections {
		if s.Client == ev.Process && s.Granted.Session == ev.Session && s.Granted.LeaseEnd == nil && MomentOf(ev).Before(s.Lease.CutAt) {
			s.Lease.declareEnd(declareFromSession(ev, ev, ev))
		}
	}
}

// declareFromSession returns the declaration of a lease that lasts as long as a session. ev is
// the event that declares it, and call the beginning of its step. alive is the session's last
// sign of life that the client knows of. The end is in true time and does not depend on the
// client's clock, because the cluster ends the session.
func declareFromSession(ev, call, alive *trace.Event) Declaration {
	until := StartOf(alive.Expires)
	return Declaration{Event: ev, Call: call, Until: until, Due: until, Foreseen: until}
}

// CountsFrom returns the moment from which the time of a lease with this declaration
// counts: when the client sent the sign of life of its session, or when it called the step
// that granted or renewed the lease.
func (h *History) CountsFrom(s *Section, d Declaration) Moment {
	for i := range slices.Backward(h.Trace.Events[:d.Event.Seq]) {
		ev := &h.Trace.Events[i]
		if ev.Kind == trace.KindAlive && ev.Process == s.Client && ev.Session == s.Granted.Session && ev.TTL > 0 && StartOf(ev.Expires) == d.Until {
			return StartOf(ev.Expires - ev.TTL)
		}
	}
	return MomentOf(d.Call)
}
