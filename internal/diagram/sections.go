package diagram

import (
	"time"

	"github.com/locksim/locksim/history"
)

// maxOverlaps is the maximum number of overlaps that are looked for. The sections for which
// one page has room cannot have more.
const maxOverlaps = 400_000

// readSections finds the critical sections, their leases, and the periods in which two of
// them overlap.
func (d *diagram) readSections(room Room) {
	all := d.history.Sections()
	overlapping := history.Overlapping(all)
	overlaps := func(s *history.Section) int { return map[bool]int{true: 1}[overlapping[s]] }
	granted := func(s *history.Section) int { return s.Granted.Seq }
	d.sections = keepHeaviest(d.focus, all, room.sections, overlaps, granted)
	d.noteOmitted(len(all)-len(d.sections), 0, "a critical section", "critical sections")

	found := history.Overlaps(d.sections, maxOverlaps)
	d.overlaps = keepHeaviest(d.focus, found, room.overlaps, equalWeight, func(o history.Overlap) int { return o.B.Granted.Seq })
	d.noteOmitted(len(found)-len(d.overlaps), 0, "an overlap", "overlaps")
	for _, s := range d.sections {
		d.addMoments(s.From.At, min(s.To.At, d.end()), min(leaseEnd(s), d.end()))
		extensions := extendedAt(s)
		d.addMoments(extensions[:min(len(extensions), maxExtensions)]...)
	}
}

// leaseEnd returns when the lease of a section ended. If the lease had ended before it was
// granted, its end is the grant, so its length is zero.
func leaseEnd(s *history.Section) time.Duration { return max(s.From.At, s.Lease.End().At) }

// extendedAt returns the times at which the lease of a section was extended.
func extendedAt(s *history.Section) []time.Duration {
	var all []time.Duration
	for _, d := range s.Lease.Declarations[1:] {
		all = append(all, d.Event.At)
	}
	return all
}
