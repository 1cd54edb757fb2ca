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
	asking := map[Acquisition]*Ballot{}
	for _, ev := range h.apart {
		o.See(ev)
		id := Acquisition{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && o.locks[ev.Lock] != nil:
			asking[id] = &Ballot{Call: h.called().by[ev.Seq]}
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire:
			if b := asking[id]; b != nil {
				all = append(all, *b)
			}
			delete(asking, id)
		case ev.Kind == trace.KindCrash:
			maps.DeleteFunc(asking, func(id Acquisition, _ *Ballot) bool { return id.Client == ev.Process })
		case ev.Key == "" && ev.Kind != trace.KindRestart && ev.Kind != trace.KindPromote:
			continue // no key has changed
		}
		divided := map[string]bool{} // the locks whose votes are split now
		for _, lock := range o.names {
			clients := map[string]bool{}
			for _, holder := range o.Holders(lock) {
				if asking[holder] != nil {
					clients[holder.Client] = true
				}
			}
			divided[lock] = len(clients) > 1
		}
		for _, b := range asking {
			b.Taken = b.Taken || o.Granted(b.Lock)
			b.Split = b.Split || divided[b.Lock]
		}
	}
	for _, c := range h.Calls() {
		if c.Began != nil && c.Step == trace.Acquire && c.Ended == nil && asking[c.Acquisition] != nil {
			all = append(all, *asking[c.Acquisition])
		}
	}
	return all
}
