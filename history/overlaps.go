package history

import (
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
	running := map[string][]*Section{} // by lock: those that were not over at the last grant
	for _, b := range sections {
		others := slices.DeleteFunc(running[b.Lock], func(a *Section) bool { return a.To.At <= b.From.At })
		running[b.Lock] = others
		if b.From.At == b.To.At || b.Open {
			continue
		}
		running[b.Lock] = append(others, b)
		if !crowded(others, b) {
			continue
		}
		for _, a := range others {
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
	running := map[string][]*Section{} // by lock: those that were not over at the last grant
	for _, b := range sections {
		if b.From.At == b.To.At || b.Open {
			continue
		}
		others := slices.DeleteFunc(running[b.Lock], func(a *Section) bool { return a.To.At <= b.From.At })
		running[b.Lock] = append(others, b)
		if !crowded(others, b) {
			continue
		}
		overlaps[b] = true
		for _, a := range others {
			overlaps[a] = true
		}
	}
	return overlaps
}
