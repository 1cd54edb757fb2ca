package explore

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The causes that everybody knows who has read of such locks come first, so that the first
// ways to break one are found soon: alone a pause of a client and a late write; in pairs a
// client that some nodes cannot be reached by, while another node forgets what it has
// granted, because its clock is set forward or because it crashes. In which order a search
// tries its single faults makes no difference to what it finds in the end; of pairs, most of
// which it never tries, the order says which it does. Nothing else depends on what is classic.

// classicPairs are the effects that are classic together.
var classicPairs = [][2]trace.Effect{
	{trace.CutsLink, trace.SetsClock},
	{trace.CutsLink, trace.KillsProcess},
}

// classic says whether a fault is a classic cause by itself.
func (r *Record) classic(f runs.Fault) bool {
	switch held, _ := f.Message(); f.Effect() {
	case trace.StopsProcess:
		return r.Roles[f.Target()] == trace.RoleClient && f.How() == "" && !f.Strikes.Before.IsZero()
	case trace.HoldsMessage:
		return held.Peer == trace.StorageName && held.Step == trace.Write && !held.Reply
	}
	return false
}

// quick says whether a quick search tries a world: a classic cause, or what is a part of
// one in a pair, as large as there is and on some nodes only, which are like the others.
// Cut off are the first nodes, as many as a lock can do without, and the last one forgets.
func (r *Record) quick(w runs.World) bool {
	f := w.Faults[0]
	last := r.Nodes[max(len(r.Nodes)-1, 0):]
	switch f.Effect() {
	case trace.StopsProcess, trace.HoldsMessage:
		return r.classic(f) && f.For == r.longest()
	case trace.CutsLink:
		cut := r.Nodes[:max(len(r.Nodes)-1, 0)/2]
		return f.How() == "" && f.For == r.longest() && slices.Equal(f.Others(), cut)
	case trace.SetsClock:
		return f.By() == r.longest() && slices.Contains(last, f.Target())
	case trace.KillsProcess:
		disk := w.Change.Persistence[f.Target()]
		return f.How() == "" && slices.Contains(last, f.Target()) && (disk == "" || disk == sim.NoPersistence) && f.For < r.share(100)
	}
	return false
}

// longest is how large the largest faults are that a search tries.
func (r *Record) longest() time.Duration {
	return max(r.share(largest), percentOf(r.Takeover, largest))
}

// effects are those of a class's members, each with its members.
func (f *Found) effects(c class) map[trace.Effect][]int {
	all := map[trace.Effect][]int{}
	for _, i := range c.members {
		e := f.singles[c.base][i].world.Faults[0].Effect()
		all[e] = append(all[e], i)
	}
	return all
}

// classicOf finds the classic pairs of a kind of pair that breaks nothing by its parts, and
// costs a holder more than it can spare: their members, and how many there are. Of several
// effects that are classic together it is the commonest.
func classicOf(k pairKind, a, b map[trace.Effect][]int) (members [2][]int, n int) {
	if k.breaking > 0 || !k.enough {
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

// comparePairKinds orders kinds of pairs as they are tried: first those of which no part
// breaks anything by itself, of these the classic ones, and then those that cost the holder
// of a lock most of what it can spare.
func comparePairKinds(a, b pairKind) int {
	classic := func(k pairKind) int { return min(k.classics, 1) }
	return cmp.Or(a.breaking-b.breaking, classic(b)-classic(a), b.lost-a.lost)
}
