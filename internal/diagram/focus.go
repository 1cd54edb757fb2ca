package diagram

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// A focus is what a run is about: the Seqs of the events that show what broke and counts, or
// else of what faults did.
type focus []int

func focusOf(v *checks.Verdict, h *history.History) focus {
	var about focus
	for _, f := range v.Findings {
		if f.Counts() {
			about = append(append(about, f.At), f.Events...)
		}
	}
	if len(about) == 0 {
		for _, act := range h.Acts() {
			about = append(about, act.Struck.Seq)
			if act.Lifted != nil {
				about = append(about, act.Lifted.Seq)
			}
		}
	}
	slices.Sort(about)
	return slices.Compact(about)
}

// far is how many events lie between an event and what the run is about.
func (about focus) far(seq int) int {
	if len(about) == 0 {
		return seq
	}
	i, _ := slices.BinarySearch(about, seq)
	if i == len(about) {
		return seq - about[i-1]
	}
	away := about[i] - seq
	if i > 0 {
		away = min(away, seq-about[i-1])
	}
	return away
}

// nearest are so many clauses of a story, in order: what is marked first, and then what is
// the nearest to what the run is about.
func (about focus) nearest(told []story.Clause, most int) []story.Clause {
	marked := func(c story.Clause) int { return min(1, len(c.Sign)) }
	return keep(about, told, most, marked, func(c story.Clause) int { return c.First })
}

// Nearest are so many clauses of the story of a run, in order: what is marked first, and
// then what is the nearest to what broke or, if nothing did, to what faults did.
func Nearest(h *history.History, v *checks.Verdict, told []story.Clause, most int) []story.Clause {
	return focusOf(v, h).nearest(told, most)
}
