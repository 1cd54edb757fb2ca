package history

import (
	"iter"
	"math"
	"slices"
	"time"
)

// Forever is the end of what does not end.
const Forever = time.Duration(math.MaxInt64)

// An Overlap is a stretch of true time during which two sections of one lock ran at once.
// A was granted first.
type Overlap struct {
	A, B     *Section
	From, To time.Duration
}

// Overlaps lists the overlaps of some sections, in the order in which they began. The
// sections are in the order of their grants; those of a lock that lets everybody in
// overlap with none, and those of one with room for several where they are too many. There can be half as many overlaps as the square of the sections: no
// more than most are listed.
func Overlaps(sections []*Section, most int) []Overlap {
	var found []Overlap
	for in, b := range overlapping(sections) {
		for _, a := range in {
			if len(found) == most {
				return found
			}
			found = append(found, Overlap{a, b, b.From.At, min(a.To.At, b.To.At)})
		}
	}
	return found
}

// Overlapping are those of some sections that have an overlap with another. The sections
// are in the order of their grants.
func Overlapping(sections []*Section) map[*Section]bool {
	overlaps := map[*Section]bool{}
	for in, b := range overlapping(sections) {
		overlaps[b] = true
		for _, a := range in {
			overlaps[a] = true
		}
	}
	return overlaps
}

// overlapping yields each section that begins while its lock has no room for it, with those that
// have the lock. Sections that take no time, and those of a lock that lets everybody in, are left
// out.
func overlapping(sections []*Section) iter.Seq2[[]*Section, *Section] {
	lasting := slices.DeleteFunc(slices.Clone(sections), func(s *Section) bool { return s.From.At == s.To.At || s.Open })
	return crowds(lasting, func(s *Section) Moment { return StartOf(s.To.At) })
}
