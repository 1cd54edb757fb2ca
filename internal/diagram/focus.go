package diagram

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// A focus contains the Seqs of the most important events of a run, in ascending order:
// those of violations that count for the verdict. If there are none, it contains those of
// faults.
type focus []int

// focusOf returns the focus of a run.
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

// distance returns how many events an event is away from the nearest important event.
func (about focus) distance(seq int) int {
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

// keepNearest keeps at most limit clauses, in their order. It prefers clauses that are
// marked with a sign, and after them those nearest to the important events.
func (about focus) nearest(told []story.Clause, most int) []story.Clause {
	marked := func(c story.Clause) int { return min(1, len(c.Sign)) }
	return keepHeaviest(about, told, most, marked, func(c story.Clause) int { return c.First })
}

// KeepNearest keeps at most limit clauses of a run's timeline, in their order. It prefers
// clauses that are marked with a sign, and after them those nearest to the violations or,
// if there are none, to the faults.
func Nearest(h *history.History, v *checks.Verdict, told []story.Clause, most int) []story.Clause {
	return focusOf(v, h).nearest(told, most)
}
