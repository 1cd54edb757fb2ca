package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A SafeOverlap explains why the data survived although two critical sections of one lock
// overlapped.
type SafeOverlap struct {
	// First and Second are the names of the sections in the order of their grants.
	First, Second string
	// Entered is when the second section was granted, in true time.
	Entered time.Duration
	Reason  SafetyReason
	// Section is First or Second if Reason is about one of the two sections, and Other is the other
	// one. Otherwise both are "".
	Section, Other string
	// Last is the last access of Section to the storage, and Next the first access of
	// Other.
	Last, Next Access
	// Cause is why Section wrote nothing, as far as the trace shows it. CausedAt is when
	// that happened.
	Cause    NoWriteCause
	CausedAt time.Duration
}

// An Access is one operation of the storage for a section.
type Access struct {
	Step   trace.Step // read or write
	Object string
	At     time.Duration
}

// A SafetyReason is why an overlap of two sections did no harm.
type SafetyReason int

const (
	// EquivalentToSerial: the accesses have the same result as if the sections had run one
	// after the other, and there is no simpler reason.
	EquivalentToSerial SafetyReason = iota
	// NeitherWrote: neither section wrote anything.
	NeitherWrote
	// WroteNothing: Section wrote nothing.
	WroteNothing
	// WroteBefore: Section is the first section, and its last write came before the second
	// section was granted.
	WroteBefore
	// DoneBefore: Section's last access came before Other's first.
	DoneBefore
	// OtherObjects: no object was used by both.
	OtherObjects
)

// A NoWriteCause is why a section wrote nothing.
type NoWriteCause int

const (
	// NoCause: the trace shows no cause.
	NoCause NoWriteCause = iota
	// NotifiedOfLoss: the lock notified the section's client that its lease was lost.
	NotifiedOfLoss
	// CheckFailed: a check showed the client that its lease had ended.
	CheckFailed
	// ExtendFailed: the client could not extend its lease.
	ExtendFailed
	// ClientCrashed: the client crashed.
	ClientCrashed
)

// SafeOverlaps explains why the overlaps of a run did no harm. It explains at most limit overlaps,
// and returns how many more there were. It is for a run whose data is intact.
func SafeOverlaps(runHistory *history.History, limit int) (first []SafeOverlap, more int) {
	h := &judgedRun{runHistory}
	accesses := h.accesses()
	for others, b := range h.GrantsBeyondRoom(func(s *history.Section) history.Moment { return s.To }) {
		for _, a := range others {
			if len(first) < limit {
				first = append(first, h.explainOverlap(a, b, accesses[a.Acquisition], accesses[b.Acquisition]))
			} else {
				more++
			}
		}
	}
	return first, more
}

// explainOverlap explains why the overlap of the sections a and b did no harm; a was granted first.
// firstAccesses are the accesses of a, and secondAccesses those of b.
func (h *judgedRun) explainOverlap(a, b *history.Section, firstAccesses, secondAccesses []access) SafeOverlap {
	s := SafeOverlap{First: h.Name(a), Second: h.Name(b), Entered: b.From.At}
	// about returns s with a reason that is about one of the two sections.
	about := func(reason SafetyReason, section *history.Section) SafeOverlap {
		s.Reason, s.Section, s.Other = reason, h.Name(section), h.Name(b)
		if section == b {
			s.Other = h.Name(a)
		}
		return s
	}
	wroteNothing := func(section *history.Section) SafeOverlap {
		s.Cause, s.CausedAt = h.noWriteCause(section)
		return about(WroteNothing, section)
	}
	lastWrite := lastOf(firstAccesses, trace.Write)
	switch {
	case lastWrite == nil && lastOf(secondAccesses, trace.Write) == nil:
		s.Reason = NeitherWrote
		return s
	case lastWrite == nil:
		return wroteNothing(a)
	case lastWrite.moment.Before(b.From):
		s.Last = lastWrite.Access
		return about(WroteBefore, a)
	case lastOf(secondAccesses, trace.Write) == nil:
		return wroteNothing(b)
	case firstAccesses[len(firstAccesses)-1].moment.Before(secondAccesses[0].moment):
		s.Last, s.Next = firstAccesses[len(firstAccesses)-1].Access, secondAccesses[0].Access
		return about(DoneBefore, a)
	case secondAccesses[len(secondAccesses)-1].moment.Before(firstAccesses[0].moment):
		s.Last, s.Next = secondAccesses[len(secondAccesses)-1].Access, firstAccesses[0].Access
		return about(DoneBefore, b)
	case !slices.ContainsFunc(firstAccesses, func(x access) bool {
		return slices.ContainsFunc(secondAccesses, func(y access) bool { return x.Object == y.Object })
	}):
		s.Reason = OtherObjects
		return s
	}
	return s
}

// An access is an Access and its moment in the trace.
type access struct {
	Access
	moment history.Moment
}

// accesses returns the storage's operations for each section, in order. It includes
// operations whose answers the client never received, and operations that the storage lost
// again.
func (h *judgedRun) accesses() map[history.Acquisition][]access {
	all := map[history.Acquisition][]access{}
	for _, ev := range h.ServedRequests() {
		if ev.OK && (ev.Step == trace.Read || ev.Step == trace.Write) {
			id := history.Acquisition{Client: ev.Client(), Section: ev.Section}
			all[id] = append(all[id], access{Access{ev.Step, ev.Object, ev.At}, history.MomentOf(ev)})
		}
	}
	return all
}

// lastOf returns the last access with a step, or nil.
func lastOf(all []access, step trace.Step) *access {
	for i, a := range slices.Backward(all) {
		if a.Step == step {
			return &all[i]
		}
	}
	return nil
}

// noWriteCause returns why a section's client did not even try to write, and when that cause
// happened. If several causes happened during the section, it returns the first. It returns NoCause
// and 0 if there is none, if the client did try, or if the client never writes.
func (h *judgedRun) noWriteCause(s *history.Section) (NoWriteCause, time.Duration) {
	if s.ReadOnly || s.WritesBegun > 0 { // the client never writes, or it did try
		return NoCause, 0
	}
	var first *trace.Event
	cause := NoCause
	consider := func(why NoWriteCause, ev *trace.Event) {
		if ev == nil || first != nil && first.Seq < ev.Seq {
			return
		}
		if at := history.MomentOf(ev); !at.Before(s.From) && !s.To.Before(at) {
			first, cause = ev, why
		}
	}
	if end, hasCrashed := h.ProcessEnd(s.Client); hasCrashed {
		consider(ClientCrashed, end)
	}
	consider(NotifiedOfLoss, s.Lost)
	for _, call := range h.CallsOf(s.Acquisition) {
		switch {
		case !call.Failed():
		case call.Step == trace.Extend && call.Began != nil: // a lock that extends by itself continues after a failure, so only the client's own calls count
			consider(ExtendFailed, call.Ended)
		case call.Step == trace.Check:
			consider(CheckFailed, call.Ended)
		}
	}
	if first == nil {
		return NoCause, 0
	}
	return cause, first.At
}
