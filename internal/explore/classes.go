package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A class is a group of single faults of one base that behave alike. If one of them has been tried
// together with another fault, trying another of the group shows hardly anything new. Classes, and
// the kinds of pairs that they form, only decide what is tried next. A report shows only how many
// kinds of pairs were tried.
type class struct {
	base int
	// members are the faults, as indices into the base's list of single faults.
	members []int
	// slotsLost is how many of its spare slots, those beyond the quorum, each of these faults costs
	// a holder. A slot is one place where the lock keeps a grant, such as a key on a node.
	slotsLost int
	// spare is how many slots a holder can spare if there is no fault.
	spare int
	// broke means that each of these faults breaks something alone. If a larger set with
	// such a fault breaks something, that shows nothing new.
	broke bool
}

// classes sorts the single faults that were run into classes, in the order in which the faults were
// listed. It leaves out inconclusive worlds, for example with a fault that never struck, and worlds
// with misconduct of the lock, such as a panic.
func (f *Found) classes() []class {
	type key struct {
		base      int
		behaviour [2]uint64
		grade     grade
		spare     int
	}
	var all []class
	indexOf := map[key]int{}
	for base, singles := range f.singles {
		for i, s := range singles {
			if s.outcome == nil || s.outcome.Off.Doubt != "" || s.outcome.HasMisconduct() {
				continue
			}
			k := key{base, [2]uint64{s.outcome.Off.Behaviour, s.outcome.On.Behaviour}, s.grade, s.outcome.Off.Spare}
			index, ok := indexOf[k]
			if !ok {
				index = len(all)
				indexOf[k] = index
				all = append(all, class{
					base: base, broke: s.grade != 0,
					spare:     f.records[base].Outcome.Off.Spare,
					slotsLost: f.records[base].Outcome.Off.Spare - s.outcome.Off.Spare,
				})
			}
			all[index].members = append(all[index].members, i)
		}
	}
	return all
}

// A pairKind is a kind of pair of faults: one fault from each of two classes of one base,
// or both from one class.
type pairKind struct {
	a, b int // indices of the two classes
	// breaking is how many of the two classes break something alone.
	breaking int
	// slotsLost is how many slots the two faults together cost a holder. exceedsSpare means
	// that this is more than the holder can spare.
	slotsLost    int
	exceedsSpare bool
	// classic has, for each of the two classes, the members that form classic pairs with the
	// members of the other; see classicPairs. classics is the number of such pairs.
	classic  [2][]int
	classics int
	// drawn counts how often a lane has drawn a pair of this kind. A lane is one of the parallel
	// searches for sets of several faults. tried counts the new ones among these pairs, which were
	// run. rewards counts the new damage and behaviours that they showed.
	drawn, tried, rewards int
}

// pairKinds lists the kinds of pairs of all bases in the order in which they are tried.
// Kinds that are otherwise equal are ordered by their number of classic pairs, the most
// first.
func (f *Found) pairKinds(all []class) []pairKind {
	var kinds []pairKind
	effects := make([]map[trace.Effect][]int, len(all))
	for i, c := range all {
		effects[i] = f.effects(c)
	}
	for a := range all {
		for b := a; b < len(all); b++ {
			if all[a].base != all[b].base {
				continue
			}
			k := pairKind{a: a, b: b, slotsLost: all[a].slotsLost + all[b].slotsLost}
			k.exceedsSpare = k.slotsLost > all[a].spare
			for _, c := range []int{a, b} {
				if all[c].broke {
					k.breaking++
				}
			}
			k.classic, k.classics = classicOf(k, effects[a], effects[b])
			kinds = append(kinds, k)
		}
	}
	slices.SortStableFunc(kinds, func(a, b pairKind) int { return cmp.Or(comparePairKinds(a, b), b.classics-a.classics) })
	return kinds
}
