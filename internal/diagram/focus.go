package diagram

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// A focus contains the Seqs of the most important events of a run, in ascending order. These are
// the events of violations that count for the verdict or, if there are none, of faults.
type focus []int

// focusOf returns the focus of a run.
func focusOf(v *checks.Verdict, h *history.History) focus {
	var seqs focus
	for _, f := range v.Findings {
		if f.Counts() {
			seqs = append(append(seqs, f.At), f.Events...)
		}
	}
	if len(seqs) == 0 {
		for _, act := range h.Acts() {
			seqs = append(seqs, act.Struck.Seq)
			if act.Lifted != nil {
				seqs = append(seqs, act.Lifted.Seq)
			}
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// distance returns how many events an event is away from the nearest important event.
func (f focus) distance(seq int) int {
	if len(f) == 0 {
		return seq
	}
	i, _ := slices.BinarySearch(f, seq)
	if i == len(f) {
		return seq - f[i-1]
	}
	distance := f[i] - seq
	if i > 0 {
		distance = min(distance, seq-f[i-1])
	}
	return distance
}

// keepNearest keeps at most limit clauses, in their order. It prefers clauses that are
// marked with a sign, and after them those nearest to the important events.
func (f focus) keepNearest(clauses []story.Clause, limit int) []story.Clause {
	marked := func(c story.Clause) int { return min(1, len(c.Sign)) }
	return keepHeaviest(f, clauses, limit, marked, func(c story.Clause) int { return c.First })
}

// KeepNearest keeps at most limit clauses of a run's timeline, in their order. It prefers
// clauses that are marked with a sign, and after them those nearest to the violations or,
// if there are none, to the faults.
func KeepNearest(h *history.History, v *checks.Verdict, clauses []story.Clause, limit int) []story.Clause {
	return focusOf(v, h).keepNearest(clauses, limit)
}
