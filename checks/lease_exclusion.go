package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// LeaseExclusion is violated when two clients' leases overlap: the lock service granted the
// lock twice. For a lock with room for N clients it is violated when more than N leases
// exist at one moment.
const LeaseExclusion Property = "lease-exclusion"

var leaseExclusion = property{
	Card: Card{
		Property: LeaseExclusion, Subject: SubjectExclusion, Gravity: 5, Column: "lease",
		Title:  "no two clients hold a lease at the same time",
		Broken: "the lock is granted twice",
		Label:  "two leases", Meaning: "two clients hold a lease at the same time",
	},
	judge: judgeLeaseExclusion,
}

func judgeLeaseExclusion(h *judgedRun) Finding {
	if len(h.Trace.Locks) == 0 {
		return notApplicable(noLock.Reason())
	}
	if h.NoExclusion() {
		return notApplicable(grantsEveryone.Reason())
	}
	var old, young *history.Section // the sections of the first overlap
	var first *trace.Event
	end := func(s *history.Section) history.Moment { return s.Lease.Longest() }
	for others, b := range h.GrantsBeyondRoom(end) {
		if first != nil && first.Seq <= b.From.Seq {
			break // a later grant's lease can only overlap later
		}
		if a, at := excessLease(others, b); at != nil && (first == nil || at.Seq < first.Seq) {
			old, young, first = a, b, at
		}
	}
	if first == nil {
		return h.judgeUnseenGrants(end, leaseEnded)
	}
	return h.overlapFinding(old, young, first)
}

// excessLease returns a critical section with whose lease the lease of the later grant b exceeds
// the room of the lock, and the event that showed that these two leases overlap. If the lock has
// room for N clients, it is the N-th section whose lease was seen to overlap with that of b; nil if
// there are fewer. others are the sections whose leases had not ended when b was granted.
func excessLease(others []*history.Section, b *history.Section) (*history.Section, *trace.Event) {
	type overlap struct {
		a  *history.Section
		at *trace.Event
	}
	var all []overlap
	for _, a := range others {
		if a.GrantsEveryone {
			continue
		}
		if at := a.Lease.Overlap(b.Lease); at != nil {
			all = append(all, overlap{a, at})
		}
	}
	if len(all) < b.MaxHolders {
		return nil, nil
	}
	slices.SortStableFunc(all, func(a, b overlap) int { return a.at.Seq - b.at.Seq })
	last := all[b.MaxHolders-1]
	return last.a, last.at
}

// overlapFinding returns the finding that the leases of a and b overlap, as the event at shows. b
// was granted later.
func (h *judgedRun) overlapFinding(a, b *history.Section, at *trace.Event) Finding {
	f := Finding{Outcome: Violated, At: at.Seq}
	if at == b.Granted {
		f.Events = []int{a.From.Seq, b.From.Seq}
		until := a.Lease.Until(at.Seq)
		f.Reason = grantedWhileLeased.Reason(h.Name(b), b.From, h.Name(a), a.From, until)
		if a.Released != nil && until == history.MomentOf(a.Released) {
			f.Reason = grantedBeforeRelease.Reason(h.Name(b), b.From, h.Name(a), a.From, until)
		}
	} else {
		f.Events = []int{a.From.Seq, b.From.Seq, at.Seq}
		extended, ignored := a, b
		if b.Acquisition == (history.Acquisition{Client: at.Process, Section: at.Section}) {
			extended, ignored = b, a
		}
		f.Reason = renewedAsIfAlone.Reason(h.Name(extended), extended.From, at.At, h.Name(ignored), ignored.From)
	}
	f.Blame, f.Reason = h.blameForLeases(a, b, f.At, f.Reason.withRoom(b.MaxHolders))
	return f
}
