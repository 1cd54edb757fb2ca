package checks

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// LeaseExclusion is violated when two clients' leases overlap, or two handles' of
// one client: the lock service granted twice.
const LeaseExclusion Property = "lease-exclusion"

var leaseExclusion = property{
	Card: Card{
		Property: LeaseExclusion, Of: OfExclusion, Gravity: 4, Column: "lease",
		Title:  "no two clients hold a lease at the same time",
		Broken: "the lock is granted twice",
		Word:   "two leases", Means: "two clients hold a lease at the same time",
	},
	judge: judgeLeaseExclusion,
}

func judgeLeaseExclusion(h *inquiry) Finding {
	if len(h.Trace.Locks) == 0 {
		return notApplicable(NoLock)
	}
	if h.NobodyExcluded() {
		return notApplicable(EverybodyIn)
	}
	var old, young *history.Section // of the first overlap
	var first *trace.Event
	for a, b := range h.Pairs(func(s *history.Section) history.Moment { return s.Lease.Longest() }) {
		if first != nil && first.Seq <= b.From.Seq {
			break // no later grant's lease overlaps any earlier
		}
		if a.Open {
			continue
		}
		if at := a.Lease.Overlap(b.Lease); at != nil && (first == nil || at.Seq < first.Seq) {
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
func (h *inquiry) leasesOverlap(a, b *history.Section, at *trace.Event) Finding {
	f := Finding{Outcome: Violated, At: at.Seq}
	if at == b.Granted {
		f.Events = []int{a.From.Seq, b.From.Seq}
		f.Reason = Because(GrantedWhileLeased,
			h.Name(b), b.From, h.Name(a), a.From, a.Lease.Until(at.Seq))
	} else {
		f.Events = []int{a.From.Seq, b.From.Seq, at.Seq}
		extended, ignored := a, b
		if b.Acquisition == (history.Acquisition{Client: at.Process, Section: at.Section}) {
			extended, ignored = b, a
		}
		f.Reason = Because(ProlongedAsIfAlone,
			h.Name(extended), extended.From, at.At, h.Name(ignored), ignored.From)
	}
	f.Fault, f.Reason = h.leaseFault(a, b, f.At, f.Reason)
	return f
}
