package history

import (
	"iter"
	"math"
	"slices"
	"time"
)

// Forever is the end of something that does not end.
const Forever = time.Duration(math.MaxInt64)

// An Overlap is an interval of true time during which two critical sections of one lock ran at the
// same time. A was granted first.
type Overlap struct {
	A, B     *Section
	From, To time.Duration
}

// Overlaps lists the overlaps of some sections, in the order in which they began. The
// sections must be in the order of their grants. Sections of a lock that is granted to every
// client have no overlaps. Sections of a lock with room for several clients have overlaps
// only where there are more of them than the lock has room for. At most limit overlaps are
// listed, because n sections can have about n²/2 overlaps.
func Overlaps(sections []*Section, limit int) []Overlap {
	var found []Overlap
	for others, b := range overlapping(sections) {
		for _, a := range others {
			if len(found) == limit {
				return found
			}
			found = append(found, Overlap{a, b, b.From.At, min(a.To.At, b.To.At)})
		}
	}
	return found
}

// Overlapping returns the set of the sections that overlap with another section. The
// sections must be in the order of their grants.
func Overlapping(sections []*Section) map[*Section]bool {
	overlaps := map[*Section]bool{}
	for others, b := range overlapping(sections) {
		overlaps[b] = true
		for _, a := range others {
			overlaps[a] = true
		}
	}
	return overlaps
}

// overlapping yields each section that begins while its lock has no room for it, together with the
// sections of the same lock that are running then. It leaves out sections without duration, and
// sections of a lock that is granted to every client.
func overlapping(sections []*Section) iter.Seq2[[]*Section, *Section] {
	lasting := slices.DeleteFunc(slices.Clone(sections), func(s *Section) bool { return s.From.At == s.To.At || s.GrantsEveryone })
	return grantsBeyondRoom(lasting, func(s *Section) Moment { return StartOf(s.To.At) })
}
