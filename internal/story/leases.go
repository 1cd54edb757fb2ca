package story

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// tellLeases tells of the leases that run out while their clients still go on as if they
// held them. It is no event, only a time that somebody should have noticed.
func (s *teller) tellLeases() {
	for _, section := range s.Sections() {
		if section.Open {
			continue
		}
		for _, lapse := range section.Lapses() {
			// Who gives it up or is told of its loss in the same nanosecond has noticed.
			if lapse.At.At >= min(section.Lease.Cut.At, section.To.At, s.Last().At) {
				continue
			}
			text := s.itsLease(section.Lock) + " is over, and it has not released"
			if lapse.Prolonged != nil {
				text = s.itsLease(section.Lock) + " runs out, and is prolonged only at " + Moment(lapse.Prolonged.Event.At, 3)
			}
			s.clauses = append(s.clauses, Clause{when: lapse.At, At: lapse.At.At, Subject: Raw(section.Client), Its: true, Predicate: Raw(text)})
		}
	}
}

// itsLease is a client's lease of a lock; which, if clients have several at once.
func (s *teller) itsLease(lock string) string {
	if s.Nested() && lock != "" {
		return "its lease of " + s.theLock(lock)
	}
	return "its lease"
}

// leaseEnds says when a lease ends that an event granted or prolonged, as far as one could
// tell then.
func (s *teller) leaseEnds(ev *trace.Event) string {
	section := s.Section(history.Acquisition{Client: ev.Process, Section: ev.Section})
	if ev.Ends == nil || section == nil {
		return ""
	}
	d := section.Lease.Latest(ev.Seq)
	switch {
	case d == nil || d.Event != ev || d.Foreseen == history.Never:
		return ""
	case d.Foreseen.At <= ev.At:
		return ", lease already over at " + Moment(max(d.Foreseen.At, 0), 3)
	}
	return ", lease until " + Moment(d.Foreseen.At, 3)
}
