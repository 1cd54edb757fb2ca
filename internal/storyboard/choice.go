package storyboard

import (
	"slices"

	"github.com/locksim/locksim/internal/story"
)

// choose divides the moments of the runs; lists has the moments of each run. The moments at the
// beginning that are the same in all runs are the common moments, and the rest of each run is its
// ending. choose keeps only the most important moments of each part.
func (s *plan) choose(lists [][]*moment) {
	n := commonLength(lists)
	isSame := !slices.ContainsFunc(lists, func(list []*moment) bool { return len(list) != n })
	room := maxMoments
	if isSame {
		s.endings = []ending{{runs: s.runs}}
	} else {
		longest := 0
		for i, list := range lists {
			kept := keepHeaviest(list[n:], maxEndMoments)
			if slices.ContainsFunc(kept, (*moment).isImportant) {
				kept = slices.DeleteFunc(kept, func(m *moment) bool { return !m.isImportant() })
			}
			s.endings = append(s.endings, ending{[]story.Run{s.runs[i]}, kept})
			longest = max(longest, len(kept))
			s.dropped += len(list) - n - len(kept)
		}
		room -= longest
	}
	s.common = keepHeaviest(lists[0][:n], room)
	s.dropped += n - len(s.common)
}

// dropLightest removes the least important common moment; of several, the last.
func (s *plan) dropLightest() {
	lightest := 0
	for i, m := range s.common {
		if m.weight <= s.common[lightest].weight {
			lightest = i
		}
	}
	s.common = slices.Delete(s.common, lightest, lightest+1)
	s.dropped++
}

// commonLength returns how many moments at the beginning are the same in all lists.
func commonLength(lists [][]*moment) int {
	n := 0
	for {
		for _, list := range lists {
			if n == len(list) || !list[n].isSame(lists[0][n]) {
				return n
			}
		}
		n++
	}
}

// keepHeaviest returns at most limit of the moments, in their order. It keeps the moments with the
// greatest weight (importance) and, of equal ones, the first. It leaves out all that weigh less
// than leastWeight.
func keepHeaviest(all []*moment, limit int) []*moment {
	kept := slices.DeleteFunc(slices.Clone(all), func(m *moment) bool { return m.weight < leastWeight })
	slices.SortStableFunc(kept, func(a, b *moment) int { return b.weight - a.weight })
	kept = kept[:min(len(kept), limit)]
	return slices.DeleteFunc(slices.Clone(all), func(m *moment) bool { return !slices.Contains(kept, m) })
}
