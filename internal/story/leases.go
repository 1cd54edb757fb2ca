package story

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addLeases describes leases that end while their clients still act as holders. The trace has no
// event for the end of a lease: the end is only a time after which the client should have stopped.
func (s *clauseBuilder) addLeases() {
	for _, section := range s.Sections() {
		if section.GrantsEveryone {
			continue
		}
		for _, lapse := range section.Lapses() {
			// A client that releases, or is notified of the loss, in the same nanosecond
			// has not continued after the end.
			if lapse.At.At >= min(section.Lease.CutAt.At, section.To.At, s.Last().At) {
				continue
			}
			text := s.itsLease(section.Lock) + " ends, but it has not released"
			if lapse.RenewedBy != nil {
				text = s.itsLease(section.Lock) + " ends, and is extended only at " + Moment(lapse.RenewedBy.Event.At, 3)
			}
			outlives := s.deedsOf(deed{by: section.Acquisition, kind: "has not released when its lease ends"})
			s.clauses = append(s.clauses, Clause{moment: lapse.At, At: lapse.At.At, Subject: Raw(section.Client), IsAboutPossession: true, Predicate: Raw(text), deeds: outlives})
		}
	}
}

// itsLease refers to a client's lease in a sentence about the client. It names the lock if
// clients hold several locks at the same time.
func (s *clauseBuilder) itsLease(lock string) string {
	if s.HasNested() && lock != "" {
		return "its lease of " + s.theLock(lock)
	}
	return "its lease"
}

// leaseEnds says when a lease ends, as far as that was foreseeable at the event that granted or
// extended it.
func (s *clauseBuilder) leaseEnds(ev *trace.Event) string {
	section := s.Section(history.Acquisition{Client: ev.Process, Section: ev.Section})
	if ev.LeaseEnd == nil || section == nil {
		return ""
	}
	d := section.Lease.Latest(ev.Seq)
	switch {
	case d == nil || d.Event != ev || d.Foreseen == history.Never:
		return ""
	case d.Foreseen.At <= ev.At:
		return ", lease already ended at " + Moment(max(d.Foreseen.At, 0), 3)
	}
	return ", lease until " + Moment(d.Foreseen.At, 3)
}
