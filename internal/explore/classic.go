package explore

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A search tries the best known causes first, so that it soon finds the first ways to break
// a lock. These causes are called classic here. The classic single faults are a pause of a
// client and a write that arrives late. In a classic pair, one fault cuts off a client from
// some nodes. The other makes another node forget what it has granted: it sets the clock of
// the node forward, or crashes the node.
//
// A full search tries all single faults, so for them the order makes no difference in the end. Most
// pairs are never tried, so for pairs the order decides which ones are. A quick search, and why,
// try only classic single faults, and parts of classic pairs.

// classicPairs are the pairs of effects of two faults that are classic together.
var classicPairs = [][2]trace.Effect{
	{trace.CutsLink, trace.SetsClock},
	{trace.CutsLink, trace.KillsProcess},
}

// isClassic reports whether a single fault is one of the best known causes.
func (r *Record) isClassic(f runs.Fault) bool {
	switch held, _ := f.Message(); f.Effect() {
	case trace.StopsProcess:
		return r.Roles[f.Target()] == trace.RoleClient && f.How() == "" && !f.Strikes.Before.IsZero()
	case trace.HoldsMessage:
		return held.Peer == trace.StorageName && held.Step == trace.Write && !held.Reply
	}
	return false
}

// isQuick reports whether a quick search tries a world with one fault. It tries classic causes, and
// faults that are a part of a classic pair: a crash that lasts less than the TTL, and any other
// fault only in the largest size. Nodes behave alike, so it tries only some of them. It cuts off
// the first nodes, as many as a lock can do without. It makes only the last node forget.
func (r *Record) isQuick(w runs.WorldSpec) bool {
	f := w.Faults[0]
	last := r.Nodes[max(len(r.Nodes)-1, 0):]
	switch f.Effect() {
	case trace.StopsProcess, trace.HoldsMessage:
		return r.isClassic(f) && f.For == r.longestFault()
	case trace.CutsLink:
		cut := r.Nodes[:max(len(r.Nodes)-1, 0)/2]
		return f.How() == "" && f.For == r.longestFault() && slices.Equal(f.Others(), cut)
	case trace.SetsClock:
		return f.By() == r.longestFault() && slices.Contains(last, f.Target())
	case trace.KillsProcess:
		disk := w.Change.Persistence[f.Target()]
		return f.How() == "" && slices.Contains(last, f.Target()) && (disk == "" || disk == sim.NoPersistence) && f.For < r.percentOfTTL(100)
	}
	return false
}

// A Likely is the faults of one kind that are likely to break something, each alone.
type Likely struct {
	Effect trace.Effect
	Faults []runs.Fault
}

// LikelySingles lists the single faults that a quick search tries, and in addition each message
// that comes late, each message that is lost, and partitions from the only node of a lock. Messages
// to and from the storage come first. The faults have the size that a quick search tries. The
// persistence of a node that crashes is that of the base. Kinds of faults are in the order in which
// they do harm most often.
func (r *Record) LikelySingles() []Likely {
	var all []Likely
	for w := range r.singles() {
		f := w.Faults[0]
		if !r.isQuick(w) && !r.isLikely(f) {
			continue
		}
		i := slices.IndexFunc(all, func(l Likely) bool { return l.Effect == f.Effect() })
		if i < 0 {
			i = len(all)
			all = append(all, Likely{Effect: f.Effect()})
		}
		all[i].Faults = append(all[i].Faults, f)
	}
	storageFirst := func(f runs.Fault) int {
		if held, _ := f.Message(); held.Peer == trace.StorageName || slices.Contains(f.Others(), trace.StorageName) {
			return 0
		}
		return 1
	}
	for _, l := range all {
		slices.SortStableFunc(l.Faults, func(a, b runs.Fault) int { return storageFirst(a) - storageFirst(b) })
	}
	return all
}

// isLikely reports whether a fault makes one message late by the longest time, lets it be
// lost, or cuts off the only node of a lock.
func (r *Record) isLikely(f runs.Fault) bool {
	switch f.Effect() {
	case trace.HoldsMessage:
		return f.For == r.longestFault()
	case trace.ResetsConnection:
		return slices.ContainsFunc(r.Messages, func(m Message) bool { return f.Strikes.When.Equal(m.InFlight(m.Nth)) })
	case trace.CutsLink:
		return len(r.Nodes) == 1 && f.How() == "" && f.For == r.longestFault() && slices.Equal(f.Others(), r.Nodes)
	}
	return false
}

// longestFault returns the longest time that a fault of the search lasts: a share of the TTL, or of
// the time that another client waits for a holder that has crashed.
func (r *Record) longestFault() time.Duration {
	return max(r.percentOfTTL(largestPercent), percentOf(r.Takeover, largestPercent))
}

// effects returns the members of a class of single faults (see classes.go) by their effect.
func (f *Found) effects(c class) map[trace.Effect][]int {
	all := map[trace.Effect][]int{}
	for _, i := range c.members {
		e := f.singles[c.base][i].world.Faults[0].Effect()
		all[e] = append(all[e], i)
	}
	return all
}

// classicOf returns which members of the two classes of k are classic pairs, and how many pairs
// they are. a and b hold the members of each class by their effect. There are none if one of the
// two faults breaks something alone, or if the two cost a holder no more slots than it can spare.
// If several pairs of effects are classic, it returns the most common one.
func classicOf(k pairKind, a, b map[trace.Effect][]int) (members [2][]int, n int) {
	if k.breaking > 0 || !k.exceedsSpare {
		return members, 0
	}
	for _, pair := range classicPairs {
		for _, both := range [][2][]int{{a[pair[0]], b[pair[1]]}, {a[pair[1]], b[pair[0]]}} {
			if pairs := len(both[0]) * len(both[1]); pairs > n {
				members, n = both, pairs
			}
		}
	}
	return members, n
}

// comparePairKinds orders kinds of pairs as they are tried. Kinds in which neither fault
// breaks anything alone come first. Among these, kinds with classic pairs come first, and
// then the kinds that cost a holder the most slots.
func comparePairKinds(a, b pairKind) int {
	classic := func(k pairKind) int { return min(k.classics, 1) }
	return cmp.Or(a.breaking-b.breaking, classic(b)-classic(a), b.slotsLost-a.slotsLost)
}
