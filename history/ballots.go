package history

import (
	"maps"

	"github.com/locksim/locksim/trace"
)

// A Ballot is one call of acquire, seen as a vote. A key on a node is the node's vote for
// the client that set it.
type Ballot struct {
	*Call
	// LockHeld says that some client held the lock at some moment of the call. VotesSplit
	// says that at some moment at least two of the clients that were asking for the lock
	// had keys on its nodes.
	LockHeld, VotesSplit bool
}

// Ballots returns the ballots of all calls of acquire of the locks that the trace
// describes, in the order in which they ended. Calls that were still running at the end of
// the run come last. Calls whose client crashed are left out.
func (h *History) Ballots() []Ballot {
	var all []Ballot
	o := NewOracle(h.Trace)
	asking := map[Acquisition]*Call{}
	// heldAt has, for each lock, the Seq (the number) of the last event at which some client held
	// the lock. splitAt has the Seq of the last event at which the votes for the lock were split.
	// Both are updated when a client begins to ask, and at every change of a key.
	heldAt, splitAt := map[*ranks]int{}, map[*ranks]int{}
	observe := func(r *ranks, seq int) {
		if len(r.onQuorum) > 0 {
			heldAt[r] = seq
		}
		if r.isVoteSplit(asking) {
			splitAt[r] = seq
		}
	}
	ballot := func(c *Call) Ballot {
		r := o.locks[c.Lock]
		return Ballot{Call: c, LockHeld: heldAt[r] >= c.Began.Seq, VotesSplit: splitAt[r] >= c.Began.Seq}
	}
	for _, ev := range h.nonMessages {
		for _, r := range o.see(ev) {
			observe(r, ev.Seq)
		}
		id := Acquisition{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && o.locks[ev.Lock] != nil:
			asking[id] = h.callChapter().bySeq[ev.Seq]
			observe(o.locks[ev.Lock], ev.Seq)
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

// isVoteSplit reports whether at least two of the clients that are asking for the lock have
// keys on its slots.
func (r *ranks) isVoteSplit(asking map[Acquisition]*Call) bool {
	voter := ""
	for g := range r.count {
		if asking[g.Acquisition] == nil {
			continue
		}
		if voter != "" && voter != g.Client {
			return true
		}
		voter = g.Client
	}
	return false
}
