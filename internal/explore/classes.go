package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A class is single faults of one base that behave alike: to try a set with one of them
// is nearly as good as to try it with another. Classes and kinds of pairs only schedule what
// is tried next; of them a report has no more than how many were tried.
type class struct {
	base int
	// members are their places among the base's singles.
	members []int
	// lost is how many of the slots that a holder can spare they cost it.
	lost int
	// spare is how many that are without any fault.
	spare int
	// broke says that they break something by themselves: a larger set that does shows
	// nothing new.
	broke bool
}

// classes sorts the single faults that were run, in the order in which they appear.
// What proves nothing by itself, such as a fault that never strikes, is left out.
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
			if s.outcome == nil || s.outcome.Off.Doubt != "" || s.outcome.Misconduct() {
				continue
			}
			k := key{base, [2]uint64{s.outcome.Off.Behaviour, s.outcome.On.Behaviour}, s.grade, s.outcome.Off.Spare}
			at, ok := place[k]
			if !ok {
				at = len(all)
				place[k] = at
				all = append(all, class{
					base: base, broke: s.grade != 0,
					spare: f.records[base].Outcome.Off.Spare,
					lost:  f.records[base].Outcome.Off.Spare - s.outcome.Off.Spare,
				})
			}
			all[at].members = append(all[at].members, i)
		}
	}
	return all
}

// A kind of pair is two classes of one base, or the same one twice.
type pairKind struct {
	a, b int // places in the list of classes
	// breaking is how many of the two break something by themselves.
	breaking int
	// lost is how many of the slots that a holder can spare the two cost it between them,
	// and enough says that it can spare no more.
	lost   int
	enough bool
	// classic are members of the two that are a classic cause together, and classics is how
	// many such pairs there are.
	classic  [2][]int
	classics int
	// drawn is how often a lane has drawn a pair of it, tried how many of those it could
	// run, and rewards how many of these showed something new.
	drawn, tried, rewards int
}

// pairKinds lists the kinds of pairs, of all bases, in the order in which they are tried;
// of the classic ones those first that have most pairs.
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
			k := pairKind{a: a, b: b, lost: all[a].lost + all[b].lost}
			k.enough = k.lost > all[a].spare
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
