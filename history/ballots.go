package history

import (
	"maps"

	"github.com/locksim/locksim/trace"
)

// A Ballot is what stood on the nodes of a lock while one client was asking for it.
type Ballot struct {
	*Call
	// Taken: somebody held the lock meanwhile. Split: at some moment at least two of those
	// who were asking had keys on its nodes.
	Taken, Split bool
}

// Ballots are all calls of acquire, of locks that the trace describes, that have returned
// or were going on when the run ended, in the order in which they ended, those that never
// did last. Those whose client crashed are none.
func (h *History) Ballots() []Ballot {
	var all []Ballot
	o := NewOracle(h.Trace)
	asking := map[Acquisition]*Call{}
	// When each lock was last seen to be held, and its votes to be split: whoever asks sees
	// it when it begins, and whenever it changes.
	taken, split := map[*ranks]int{}, map[*ranks]int{}
	look := func(r *ranks, seq int) {
		if len(r.standing) > 0 {
			taken[r] = seq
		}
		if r.divides(asking) {
			split[r] = seq
		}
	}
	ballot := func(c *Call) Ballot {
		r := o.locks[c.Lock]
		return Ballot{Call: c, Taken: taken[r] >= c.Began.Seq, Split: split[r] >= c.Began.Seq}
	}
	for _, ev := range h.apart {
		for _, r := range o.see(ev) {
			look(r, ev.Seq)
		}
		id := Acquisition{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && o.locks[ev.Lock] != nil:
			asking[id] = h.called().by[ev.Seq]
			look(o.locks[ev.Lock], ev.Seq)
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire:
			if c := asking[id]; c != nil {
				all = append(all, ballot(c))
			}
			delete(asking, id)
		case ev.Kind == trace.KindCrash:
			maps.DeleteFunc(asking, func(id Acquisition, _ *Call) bool { return id.Client == ev.Process })
		}
	}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Ended == nil && asking[c.Acquisition] == c {
			all = append(all, ballot(c))
		}
	}
	return all
}

// divides says whether at least two clients who are asking have keys on the lock's slots.
func (r *ranks) divides(asking map[Acquisition]*Call) bool {
	one := ""
	for g := range r.count {
		if asking[g.Acquisition] == nil {
			continue
		}
		if one != "" && one != g.Client {
			return true
		}
		one = g.Client
	}
	return false
}
