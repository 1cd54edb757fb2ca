package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Sparing is why the data survived although two sections of one lock overlapped: what
// the trace shows of the two that kept them out of each other's way.
type Sparing struct {
	// First and Second name the sections in the order in which they were granted.
	First, Second string
	// Entered is when the second was, in true time.
	Entered time.Duration
	How     SparedHow
	// Who, in those that say so, is the First or the Second, and Other the other.
	Who, Other string
	// Last is the last that Who did at the storage, and Next the first that the Other
	// did there.
	Last, Next Access
	// Cause is why Who wrote nothing, as far as the trace shows it; CausedAt is when.
	Cause    SparedCause
	CausedAt time.Duration
}

// An Access is what the storage did for a section.
type Access struct {
	Step   trace.Step // read or write
	Object string
	At     time.Duration
}

// SparedHow says how two sections kept out of each other's way.
type SparedHow int

const (
	// AsIfApart: no simpler reason than that what they did comes to the same as one
	// after the other.
	AsIfApart SparedHow = iota
	// NeitherWrote: nothing was written by either.
	NeitherWrote
	// WroteNothing: Who wrote nothing at all.
	WroteNothing
	// WroteBefore: the last write of Who, the First, came before the Second entered.
	WroteBefore
	// DoneBefore: Who was done with the storage before the Other came to it.
	DoneBefore
	// OtherObjects: no object was used by both.
	OtherObjects
)

// SparedCause is why a section wrote nothing.
type SparedCause int

const (
	// NoCause: the trace shows none.
	NoCause SparedCause = iota
	// ToldOfLoss: the lock told it that its lease was lost.
	ToldOfLoss
	// CheckFailed: it found at its check that its lease was over.
	CheckFailed
	// ExtendFailed: it could not extend its lease.
	ExtendFailed
	// ClientCrashed: its client crashed.
	ClientCrashed
)

// Spared says why each of the first overlaps of a run did no harm, of at most so many,
// and how many more there were. It is for a run whose data is intact.
func Spared(of *history.History, most int) (first []Sparing, more int) {
	h := &inquiry{of}
	accesses := h.accesses()
	for in, b := range h.Crowds(func(s *history.Section) history.Moment { return s.To }) {
		for _, a := range in {
			if len(first) < most {
				first = append(first, h.sparing(a, b, accesses[a.Acquisition], accesses[b.Acquisition]))
			} else {
				more++
			}
		}
	}
	return first, more
}

// sparing is why the sections a and then b, for which the storage did this, did no harm.
func (h *inquiry) sparing(a, b *history.Section, did, doing []access) Sparing {
	s := Sparing{First: h.Name(a), Second: h.Name(b), Entered: b.From.At}
	// about says that it is one of the two.
	about := func(how SparedHow, who *history.Section) Sparing {
		s.How, s.Who, s.Other = how, h.Name(who), h.Name(b)
		if who == b {
			s.Other = h.Name(a)
		}
		return s
	}
	wroteNothing := func(who *history.Section) Sparing {
		s.Cause, s.CausedAt = h.restraint(who)
		return about(WroteNothing, who)
	}
	lastWrite := lastOf(did, trace.Write)
	switch {
	case lastWrite == nil && lastOf(doing, trace.Write) == nil:
		s.How = NeitherWrote
		return s
	case lastWrite == nil:
		return wroteNothing(a)
	case lastWrite.moment.Before(b.From):
		s.Last = lastWrite.Access
		return about(WroteBefore, a)
	case lastOf(doing, trace.Write) == nil:
		return wroteNothing(b)
	case did[len(did)-1].moment.Before(doing[0].moment):
		s.Last, s.Next = did[len(did)-1].Access, doing[0].Access
		return about(DoneBefore, a)
	case doing[len(doing)-1].moment.Before(did[0].moment):
		s.Last, s.Next = doing[len(doing)-1].Access, did[0].Access
		return about(DoneBefore, b)
	case !slices.ContainsFunc(did, func(x access) bool {
		return slices.ContainsFunc(doing, func(y access) bool { return x.Object == y.Object })
	}):
		s.How = OtherObjects
		return s
	}
	return s
}

// An access is an Access and its place in the trace.
type access struct {
	Access
	moment history.Moment
}

// accesses are what the storage did for each section, in order: also what the client
// never heard of, and what the storage lost again.
func (h *inquiry) accesses() map[history.Acquisition][]access {
	all := map[history.Acquisition][]access{}
	for _, ev := range h.Served() {
		if ev.OK && (ev.Step == trace.Read || ev.Step == trace.Write) {
			id := history.Acquisition{Client: ev.Client(), Section: ev.Section}
			all[id] = append(all[id], access{Access{ev.Step, ev.Object, ev.At}, history.MomentOf(ev)})
		}
	}
	return all
}

// lastOf is the last access of a kind, or nil.
func lastOf(all []access, step trace.Step) *access {
	for i, a := range slices.Backward(all) {
		if a.Step == step {
			return &all[i]
		}
	}
	return nil
}

// restraint is the first thing that kept a section, while it lasted, from so much as
// trying to write.
func (h *inquiry) restraint(s *history.Section) (SparedCause, time.Duration) {
	if s.ReadOnly || s.Begun > 0 { // it never would have, or was about to
		return NoCause, 0
	}
	var first *trace.Event
	cause := NoCause
	because := func(why SparedCause, ev *trace.Event) {
		if ev == nil || first != nil && first.Seq < ev.Seq {
			return
		}
		if at := history.MomentOf(ev); !at.Before(s.From) && !s.To.Before(at) {
			first, cause = ev, why
		}
	}
	if over, crashed := h.Fate(s.Client); crashed {
		because(ClientCrashed, over)
	}
	because(ToldOfLoss, s.Lost)
	for _, call := range h.CallsOf(s.Acquisition) {
		switch {
		case !call.Failed():
		case call.Step == trace.Extend && call.Began != nil: // a lock that extends by itself goes on when it fails
			because(ExtendFailed, call.Ended)
		case call.Step == trace.Check:
			because(CheckFailed, call.Ended)
		}
	}
	if first == nil {
		return NoCause, 0
	}
	return cause, first.At
}
