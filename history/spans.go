package history

import (
	"math"
	"slices"
	"time"
)

// Forever is the end of what does not end.
const Forever = time.Duration(math.MaxInt64)

// A Span is one granted section as the checks see it, for who wants to draw it.
// All times are true time.
type Span struct {
	Client  string
	Section int
	// Lock names the lock. Open says that it lets everybody in: such a section has
	// no lease.
	Lock string
	Open bool
	// Token is the fencing token with which the section went to the storage; 0 is
	// none. Rank is its place in the order of grants.
	Token, Rank uint64
	// From and To are when the section began and ended; To is Forever for one that
	// never did. CutShort says how it ended if it was not released.
	From, To time.Duration
	CutShort string
	// Granted is the Seq of the event with which it began.
	Granted int
	// LeaseEnd is when the lease ended: by its time, by release, loss or crash. A
	// lease that had ended when it was granted ends at From.
	LeaseEnd time.Duration
	// Extended are the moments at which the lease was prolonged.
	Extended []time.Duration
}

// Spans lists the granted sections of a run, in the order of their grants.
func (h *History) Spans() []Span {
	var spans []Span
	for _, s := range h.Sections() {
		span := Span{
			Client: s.Client, Section: s.Section, Lock: s.Lock, Open: s.Open,
			Token: s.Granted.Token, Rank: s.Rank(),
			From: s.From.At, To: s.To.At, CutShort: s.CutShort(), Granted: s.Granted.Seq,
			LeaseEnd: max(s.From.At, s.Lease.End().At),
		}
		if n := len(s.Minted); n > 0 {
			span.Token = s.Minted[n-1].Token
		}
		for _, d := range s.Lease.Ends[1:] {
			span.Extended = append(span.Extended, d.Event.At)
		}
		spans = append(spans, span)
	}
	return spans
}

// Overlaps lists the stretches of true time during which two sections of one lock
// ran at once, each with the sections as indices into the spans, in the order in
// which they began. The spans are in the order of their grants. There can be half as
// many overlaps as the square of the spans: no more than most are listed.
func Overlaps(spans []Span, most int) []Overlap {
	var found []Overlap
	running := map[string][]int{} // by lock: those that were not over at the last grant
	for j, b := range spans {
		others := slices.DeleteFunc(running[b.Lock], func(i int) bool { return spans[i].To <= b.From })
		running[b.Lock] = others
		if b.From == b.To || b.Open {
			continue
		}
		running[b.Lock] = append(others, j)
		for _, i := range others {
			if len(found) == most {
				return found
			}
			found = append(found, Overlap{i, j, b.From, min(spans[i].To, b.To)})
		}
	}
	return found
}

// Overlapping says of each span whether there is another with which it has an overlap.
// The spans are in the order of their grants.
func Overlapping(spans []Span) []bool {
	overlaps := make([]bool, len(spans))
	latest := map[string]int{} // by lock: the one that ends last so far
	for j, b := range spans {
		if b.From == b.To || b.Open {
			continue
		}
		i, any := latest[b.Lock]
		if any && b.From < spans[i].To {
			overlaps[i], overlaps[j] = true, true
		}
		if !any || spans[i].To < b.To {
			latest[b.Lock] = j
		}
	}
	return overlaps
}

// An Overlap is a stretch during which two sections ran at once.
type Overlap struct {
	A, B     int
	From, To time.Duration
}
