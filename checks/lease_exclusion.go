package checks

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// LeaseExclusion is violated when two clients' leases overlap, or two handles' of
// one client: the lock service granted twice.
const LeaseExclusion Property = "lease-exclusion"

var leaseExclusion = property{
	name:  LeaseExclusion,
	title: "no two clients hold a lease at the same time",
	judge: judgeLeaseExclusion,
}

func judgeLeaseExclusion(h *history) Finding {
	if len(h.trace.Locks) == 0 {
		return notApplicable(noLock)
	}
	if h.nobodyExcluded() {
		return notApplicable(everybodyIn)
	}
	var old, young *section // of the first overlap
	var first *trace.Event
	for a, b := range h.pairs(func(s *section) moment { return s.lease.longest() }) {
		if first != nil && first.Seq <= b.from.seq {
			break // no later grant's lease overlaps any earlier
		}
		if a.open {
			continue
		}
		if at := a.lease.overlap(b.lease); at != nil && (first == nil || at.Seq < first.Seq) {
			old, young, first = a, b, at
		}
	}
	if first == nil {
		return holds()
	}
	return h.leasesOverlap(old, young, first)
}

// leasesOverlap tells of two leases that turned out to overlap with the event at, b's
// the one granted later.
func (h *history) leasesOverlap(a, b *section, at *trace.Event) Finding {
	f := Finding{Outcome: Violated, At: at.Seq}
	if at == b.granted {
		f.Events = []int{a.from.seq, b.from.seq}
		f.Reason = fmt.Sprintf("%s was granted the lock at %v, while %s's lease, granted at %v, ran until %v",
			h.name(b), b.from, h.name(a), a.from, a.lease.until(at.Seq))
	} else {
		f.Events = []int{a.from.seq, b.from.seq, at.Seq}
		extended, ignored := a, b
		if b.acquisition == (acquisition{at.Process, at.Section}) {
			extended, ignored = b, a
		}
		f.Reason = fmt.Sprintf("%s's lease, granted at %v, was prolonged at %v as if %s had not been granted the lock at %v",
			h.name(extended), extended.from, at.At, h.name(ignored), ignored.from)
	}
	f.Fault, f.Reason = h.leaseFault(a, b, f.At, f.Reason)
	return f
}
