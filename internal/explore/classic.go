package explore

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The best known causes are tried first, so that the first ways to break a lock are found
// soon. Alone they are a pause of a client and a late write. In pairs they are a client
// that cannot reach some nodes, while another node forgets what it has granted because its
// clock is set forward or because it crashes.
//
// For single faults the order makes no difference to the final result. Most pairs are never
// tried, so for pairs the order decides which of them are. Nothing else depends on what is
// classic.

// classicPairs are the pairs of effects that are classic together.
var classicPairs = [][2]trace.Effect{
	{trace.CutsLink, trace.SetsClock},
	{trace.CutsLink, trace.KillsProcess},
}

// isClassic reports whether a fault alone is a classic cause.
func (r *Record) isClassic(f runs.Fault) bool {
	switch held, _ := f.Message(); f.Effect() {
	case trace.StopsProcess:
		return r.Roles[f.Target()] == trace.RoleClient && f.How() == "" && !f.Strikes.Before.IsZero()
	case trace.HoldsMessage:
		return held.Peer == trace.StorageName && held.Step == trace.Write && !held.Reply
	}
	return false
}

// isQuick reports whether a quick search tries a world with one fault: a classic cause, or
// a part of a classic pair, in the largest size only. Nodes are alike, so it tries only
// some of them: the first nodes are cut off, as many as a lock can do without, and the last
// one forgets.
func (r *Record) isQuick(w runs.WorldSpec) bool {
	f := w.Faults[0]
	last := r.Nodes[max(len(r.Nodes)-1, 0):]
	switch f.Effect() {
	case trace.StopsProcess, trace.HoldsMessage:
		return r.isClassic(f) && f.For == r.longest()
	case trace.CutsLink:
		cut := r.Nodes[:max(len(r.Nodes)-1, 0)/2]
		return f.How() == "" && f.For == r.longest() && slices.Equal(f.Others(), cut)
	case trace.SetsClock:
		return f.By() == r.longest() && slices.Contains(last, f.Target())
	case trace.KillsProcess:
		disk := w.Change.Persistence[f.Target()]
		return f.How() == "" && slices.Contains(last, f.Target()) && (disk == "" || disk == sim.NoPersistence) && f.For < r.percentOfTTL(100)
	}
	return false
}

// longest returns the largest size of the faults that a search tries.
func (r *Record) longest() time.Duration {
	return max(r.percentOfTTL(largest), percentOf(r.Takeover, largest))
}

// effects returns the effects of a class's members, each with its members.
func (f *Found) effects(c class) map[trace.Effect][]int {
	all := map[trace.Effect][]int{}
	for _, i := range c.members {
		e := f.singles[c.base][i].world.Faults[0].Effect()
		all[e] = append(all[e], i)
	}
	return all
}

// classicOf finds the classic pairs of a kind of pair: their members and their number. It
// finds none if a part breaks something alone, or if the pair does not cost a holder more
// than it can spare. Of several pairs of effects it returns the most common.
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

// comparePairKinds orders kinds of pairs as they are tried. Pairs of which no part breaks
// anything alone come first; among these the classic ones; then those that cost a holder
// most of what it can spare.
func comparePairKinds(a, b pairKind) int {
	classic := func(k pairKind) int { return min(k.classics, 1) }
	return cmp.Or(a.breaking-b.breaking, classic(b)-classic(a), b.slotsLost-a.slotsLost)
}
