package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A class is a group of single faults of one base that behave alike: trying a set with one
// of them is nearly as good as trying it with another. Classes and kinds of pairs only
// decide what is tried next. A report shows no more of them than how many were tried.
type class struct {
	base int
	// members are indices into the base's singles.
	members []int
	// slotsLost is how many of the slots that a holder can spare these faults cost it.
	slotsLost int
	// spare is how many slots a holder can spare without any fault.
	spare int
	// broke reports that these faults break something alone, so a larger set that breaks
	// something shows nothing new.
	broke bool
}

// classes sorts the single faults that were run into classes, in the order in which they
// appear. It leaves out inconclusive faults, for example one that never strikes.
func (f *Found) classes() []class {
	type key struct {
		base      int
		behaviour [2]uint64
		grade     grade
		spare     int
	}
	var all []class
	place := map[key]int{}
	for base, singles := range f.singles {
		for i, s := range singles {
			if s.outcome == nil || s.outcome.Off.Doubt != "" || s.outcome.HasMisconduct() {
				continue
			}
			k := key{base, [2]uint64{s.outcome.Off.Behaviour, s.outcome.On.Behaviour}, s.grade, s.outcome.Off.Spare}
			at, ok := place[k]
			if !ok {
				at = len(all)
				place[k] = at
				all = append(all, class{
					base: base, broke: s.grade != 0,
					spare:     f.records[base].Outcome.Off.Spare,
					slotsLost: f.records[base].Outcome.Off.Spare - s.outcome.Off.Spare,
				})
			}
			all[at].members = append(all[at].members, i)
		}
	}
	return all
}

// A pairKind is a kind of pair: two classes of one base, or one class twice.
type pairKind struct {
	a, b int // indices into the list of classes
	// breaking is how many of the two classes break something alone.
	breaking int
	// slotsLost is how many of the slots that a holder can spare the two classes cost it
	// together. exceedsSpare reports that these are more than it can spare.
	slotsLost    int
	exceedsSpare bool
	// classic are the members of the two classes that are a classic cause together.
	// classics is the number of such pairs.
	classic  [2][]int
	classics int
	// drawn counts how often a lane has drawn a pair of this kind, tried how many of those
	// it could run, and rewards how many of these showed something new.
	drawn, tried, rewards int
}

// pairKinds lists the kinds of pairs of all bases in the order in which they are tried.
// Among the classic ones, those with the most pairs come first.
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
