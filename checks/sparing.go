package checks

import (
	"slices"
	"time"

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
func Spared(t *trace.Trace, most int) (first []Sparing, more int) {
	h := newHistory(t)
	accesses := h.accesses()
	for a, b := range h.pairs(func(s *section) moment { return s.to }) {
		if len(first) < most {
			first = append(first, h.sparing(a, b, accesses[a.acquisition], accesses[b.acquisition]))
		} else {
			more++
		}
	}
	return first, more
}

// sparing is why the sections a and then b, for which the storage did this, did no harm.
func (h *history) sparing(a, b *section, did, doing []access) Sparing {
	s := Sparing{First: h.name(a), Second: h.name(b), Entered: b.from.at}
	// about says that it is one of the two.
	about := func(how SparedHow, who *section) Sparing {
		s.How, s.Who, s.Other = how, h.name(who), h.name(b)
		if who == b {
			s.Other = h.name(a)
		}
		return s
	}
	wroteNothing := func(who *section) Sparing {
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
	case lastWrite.moment.before(b.from):
		s.Last = lastWrite.Access
		return about(WroteBefore, a)
	case lastOf(doing, trace.Write) == nil:
		return wroteNothing(b)
	case did[len(did)-1].moment.before(doing[0].moment):
		s.Last, s.Next = did[len(did)-1].Access, doing[0].Access
		return about(DoneBefore, a)
	case doing[len(doing)-1].moment.before(did[0].moment):
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
	moment moment
}

// accesses are what the storage did for each section, in order: also what the client
// never heard of, and what the storage lost again.
func (h *history) accesses() map[acquisition][]access {
	all := map[acquisition][]access{}
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		if ev.Kind == trace.KindServe && ev.OK && (ev.Step == trace.Read || ev.Step == trace.Write) {
			id := acquisition{ev.Client(), ev.Section}
			all[id] = append(all[id], access{Access{ev.Step, ev.Object, ev.At}, momentOf(ev)})
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
func (h *history) restraint(s *section) (SparedCause, time.Duration) {
	if s.readOnly || s.begun > 0 { // it never would have, or was about to
		return NoCause, 0
	}
	extending := false // a lock that extends by itself goes on when it fails
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		at := momentOf(ev)
		if ev.Process != s.client || at.before(s.from) || s.to.before(at) {
			continue
		}
		if ev.Kind == trace.KindCrash {
			return ClientCrashed, ev.At
		}
		if ev.Section != s.section {
			continue
		}
		switch {
		case ev.Kind == trace.KindLost:
			return ToldOfLoss, ev.At
		case ev.Kind == trace.KindBegin && ev.Step == trace.Extend:
			extending = true
		case ev.Kind == trace.KindEnd && ev.Step == trace.Extend:
			if extending && !ev.OK {
				return ExtendFailed, ev.At
			}
			extending = false
		case ev.Kind == trace.KindEnd && ev.Step == trace.Check && !ev.OK:
			return CheckFailed, ev.At
		}
	}
	return NoCause, 0
}
