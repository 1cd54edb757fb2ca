package checks

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// How often clients that asked at the same time kept the lock from each other:
// attempts that failed though nobody held the lock from their beginnings to
// their ends, because at some moment at least two of those who were asking had
// keys on its nodes, and none had a quorum.
var splitVotes = measure{
	name:  "split-votes",
	title: "attempts that failed because those who asked at once split the votes, so that nobody got the lock",
	take:  takeSplitVotes,
}

// An attempt is a call of acquire that has not returned.
type attempt struct {
	lock *ranks
	// taken: somebody has held the lock meanwhile. split: the votes were.
	taken, split bool
}

func takeSplitVotes(h *history) Measure {
	votes := slices.ContainsFunc(h.trace.Locks, func(l trace.LockInfo) bool { return l.Quorum > 1 })
	if !votes {
		return absent("the lock asks for no majority")
	}
	o := NewOracle(h.trace).(*oracle)
	asking := map[acquisition]*attempt{}
	var split, failed int64
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		o.Observe(ev)
		id := acquisition{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && o.locks[ev.Lock] != nil:
			asking[id] = &attempt{lock: o.locks[ev.Lock]}
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire:
			if a := asking[id]; a != nil && !ev.OK {
				failed++
				if a.split && !a.taken {
					split++
				}
			}
			delete(asking, id)
		case ev.Kind == trace.KindCrash:
			for id := range asking {
				if id.client == ev.Process {
					delete(asking, id)
				}
			}
		case ev.Key == "" && ev.Kind != trace.KindRestart && ev.Kind != trace.KindPromote:
			continue // no key has changed
		}
		divided := map[*ranks]bool{} // the locks whose votes are split now
		for _, name := range o.names {
			lock := o.locks[name]
			divided[lock] = o.voters(lock, asking) > 1
		}
		for _, a := range asking {
			a.taken = a.taken || len(a.lock.standing) > 0
			a.split = a.split || divided[a.lock]
		}
	}
	return Measure{
		Figures: []Figure{{"split", Count, split}, {"failed", Count, failed}},
		text:    fmt.Sprintf("%d of %d failed attempts", split, failed),
	}
}

// voters counts the clients among those asking for a lock that have keys on its
// nodes.
func (o *oracle) voters(lock *ranks, asking map[acquisition]*attempt) int {
	clients := map[string]bool{}
	for _, p := range lock.slots {
		if key := o.keys.standing[p]; key != nil && asking[key.owner] != nil {
			clients[key.owner.client] = true
		}
	}
	return len(clients)
}
