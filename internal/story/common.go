package story

import "slices"

// CommonClauses returns the number of clauses at the beginning that are equal in all timelines.
func CommonClauses(timelines [][]Clause) int {
	n := 0
	for {
		for _, clauses := range timelines {
			if n >= len(clauses) || !clauses[n].looksLike(timelines[0][n]) {
				return n
			}
		}
		n++
	}
}

// looksLike reports whether two clauses look the same in a timeline.
func (c Clause) looksLike(other Clause) bool {
	return c.At == other.At && c.Subject == other.Subject && c.Predicate == other.Predicate &&
		slices.EqualFunc(c.Marks, other.Marks, func(m, n Mark) bool { return m.Text == n.Text })
}
