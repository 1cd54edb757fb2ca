package history

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Section is one critical section of one client: from the return of acquire until the client
// releases the lock, crashes or abandons its work. A client with several handles on a lock can be
// in several sections at the same time.
type Section struct {
	Acquisition
	Lock string
	// Outer is the section of the same client in which this one is nested, or nil. inner
	// are the sections that are nested in this one.
	Outer *Section
	inner []*Section
	// Period is the period of the schedule that the client means to run; 0 is none.
	Period int
	// Granted is the event with which acquire returned; nil if the lock was never granted.
	Granted *trace.Event
	// Minted are the events with which the section got fencing tokens of its own, in order:
	// each is the end of a step acquire or mint.
	Minted []*trace.Event
	// MaxHolders is how many clients the lock has room for at one moment, mostly one.
	MaxHolders int
	// GrantsEveryone: the lock is granted to every client. Unordered: its tokens have no
	// order.
	GrantsEveryone, Unordered bool
	// ReadOnly: the client never writes.
	ReadOnly bool
	// Notifies: the lock notifies this client if the lease is lost.
	Notifies bool
	// From is when acquire returned, and To is when the section ended; [Never] if it has
	// not ended.
	From, To Moment
	// Released is the event with which release was called; nil if it was not.
	Released *trace.Event
	// Lost is the event with which the lock notified the client that its lease is lost; nil
	// if it did not.
	Lost *trace.Event
	// How says how the section ended.
	How   SectionEnding
	Lease Lease

	// Operations are the section's applied operations, in the order of the storage: every
	// write that the storage made, even after the section had ended, and every read whose
	// answer reached the client.
	Operations []*Operation
	// known has the versions of objects that the client has read, or has written and learnt of the
	// success, in order.
	known []knownVersion
	// WritesBegun counts the writes that the client began. WritesRefused and WritesApplied
	// count the writes of which it learnt that the storage refused or applied them. LastApplied
	// is when it last learnt that a write was applied.
	WritesBegun, WritesRefused, WritesApplied int
	// done counts the steps that have ended between the grant and the release; failed says that
	// at least one of these steps failed.
	done        int
	failed      bool
	LastApplied Moment
}

// Rank returns the section's place in the order of grants, which the oracle determines (see
// [Oracle]). For a lock that is granted to every client, the rank is the section's token, if there
// are tokens and they have an order.
func (s *Section) Rank() uint64 {
	if s.GrantsEveryone && !s.Unordered && len(s.Minted) > 0 {
		return s.Token()
	}
	return s.Granted.Rank
}

// Token returns the last fencing token that the section was given, which it sends to the
// storage; 0 if it has none.
func (s *Section) Token() uint64 {
	if n := len(s.Minted); n > 0 {
		return s.Minted[n-1].Token
	}
	return s.Granted.Token
}

// A reading is the chapter of sections: the granted sections with their leases, and
// everything that clients did to the storage.
type reading struct {
	*History
	// sections are the granted sections, in the order in which acquire returned.
	sections []*Section
	granted  map[Acquisition]*Section
	// ungranted are the operations that belong to no granted section. The operations that
	// follow one failed call of acquire form one Section. An operation outside any acquisition
	// is a Section of its own.
	ungranted []*Section
	// versions are the applied writes, in the order of the storage. made maps each object
	// and version number to the versions with that number.
	versions []*Version
	made     map[state][]*Version
	// signsOfLife has, for each session, the last sign of life that its client knows of.
	signsOfLife map[sessionName]*trace.Event
	// observations are the states in which the storage showed its objects, in order.
	observations []Observation
}

// Sections returns the granted sections, in the order in which acquire returned.
func (h *History) Sections() []*Section { return h.read().sections }

// Section returns a granted section; nil if there is none. The section's number counts all
// calls of acquire of its client, failed ones included: after many attempts a client's
// first section has a high number.
func (h *History) Section(id Acquisition) *Section { return h.read().granted[id] }

// read returns the chapter of sections.
func (h *History) read() *reading {
	return h.reading.get(func() *reading {
		r := &reading{History: h, granted: map[Acquisition]*Section{}, made: map[state][]*Version{}, signsOfLife: map[sessionName]*trace.Event{}}
		r.readSections()
		r.readStorage()
		return r
	})
}

// readSections computes the sections and their leases.
func (r *reading) readSections() {
	calls := r.callChapter().bySeq
	for _, ev := range r.nonMessages {
		switch ev.Kind {
		case trace.KindBegin, trace.KindEnd, trace.KindLost, trace.KindCrash, trace.KindDone, trace.KindAlive:
		default:
			continue
		}
		id := Acquisition{ev.Process, ev.Section}
		s := r.granted[id]
		switch ev.Kind {
		case trace.KindBegin:
			switch {
			case ev.Step == trace.Release && s != nil && s.Released == nil:
				s.end(ev, releaseCalled)
				s.Released = ev
				s.Lease.CutAt = Earlier(s.Lease.CutAt, MomentOf(ev))
			case ev.Step == trace.Write && s != nil:
				s.WritesBegun++
				if ev.ReleasesLock {
					s.end(ev, releaseCalled)
					s.Lease.CutAt = Earlier(s.Lease.CutAt, MomentOf(ev))
				}
			}
		case trace.KindEnd:
			begun := calls[ev.Seq].Began
			if s != nil && ev.Step != trace.Extend && ev.Step != trace.Release {
				s.failed = s.failed || !ev.OK
				s.done++
			}
			switch {
			case ev.Step == trace.Write && s != nil:
				s.recordWriteResult(ev)
			case !ev.OK:
			case ev.Step == trace.Acquire:
				s = r.grant(id, begun, ev)
			case ev.Step == trace.Extend && s != nil && MomentOf(ev).Before(s.Lease.CutAt):
				s.Lease.declareEnd(r.newDeclaration(s, cmp.Or(begun, r.renewalRequest(s, ev)), ev))
			}
			if ev.Minted && s != nil {
				s.Minted = append(s.Minted, ev)
			}
		case trace.KindAlive:
			r.recordSignOfLife(ev)
		case trace.KindLost:
			if s != nil {
				s.Lease.CutAt = Earlier(s.Lease.CutAt, MomentOf(ev))
				s.Lost = cmp.Or(s.Lost, ev)
			}
		case trace.KindCrash:
			for _, s := range r.sections {
				if s.Client == ev.Process {
					s.Lease.CutAt = Earlier(s.Lease.CutAt, MomentOf(ev))
				}
			}
			r.endSections(ev, clientCrashed)
		case trace.KindDone:
			r.endSections(ev, clientGaveUp)
		}
	}
	r.deriveEndsFromSlots()
}

// A SectionEnding is how a section ended.
type SectionEnding string

const (
	// NotEnded: the section has not ended.
	NotEnded SectionEnding = ""
	// releaseCalled: the client called release.
	releaseCalled SectionEnding = "released"
	clientCrashed SectionEnding = "its client crashed"
	clientGaveUp  SectionEnding = "its client gave up"
)

// endSections ends the running sections of a client.
func (r *reading) endSections(ev *trace.Event, how SectionEnding) {
	for _, s := range r.sections {
		if s.Client == ev.Process && s.To == Never {
			s.end(ev, how)
		}
	}
}

// recordWriteResult records that the client learnt the result of a write.
func (s *Section) recordWriteResult(ev *trace.Event) {
	switch {
	case ev.OK:
		s.WritesApplied++
		s.LastApplied = MomentOf(ev)
	case ev.Refused:
		s.WritesRefused++
	}
}

// Completed reports whether the client released the section after its work was done. A
// client that writes must have begun at least one write, and know that all were applied. A
// read-only client must have done at least one other step, and none may have failed.
// Sections nested in each other are completed together or not at all.
func (s *Section) Completed() bool {
	begun, applied, done := 0, 0, 0
	for _, o := range s.WorkSections() {
		if o.Released == nil || s.ReadOnly && o.failed {
			return false
		}
		begun, applied, done = begun+o.WritesBegun, applied+o.WritesApplied, done+o.done
	}
	if s.ReadOnly {
		return done > 0
	}
	return begun > 0 && applied == begun
}

// ReleasedByWrite reports whether the section ended with a write that also released the
// lock.
func (s *Section) ReleasedByWrite() bool {
	return s.How == releaseCalled && s.Released != nil && s.To.Before(MomentOf(s.Released))
}

// AcquireCall returns the beginning of the call of acquire that led to the section, or the
// end of that call if its beginning is not known.
func (s *Section) AcquireCall() *trace.Event { return s.Lease.Declarations[0].Call }

// EndEvent returns the event with which the section ended, or the last event of the run if
// it has not ended.
func (h *History) EndEvent(s *Section) *trace.Event { return cmp.Or(h.Event(s.To.Seq), h.Last()) }

// CutShort returns how the section ended without a release; "" if it was released or has
// not ended.
func (s *Section) CutShort() string {
	if s.How == releaseCalled {
		return ""
	}
	return string(s.How)
}

// grant begins a section with the end of a successful acquire.
func (r *reading) grant(id Acquisition, call, ev *trace.Event) *Section {
	lock := r.locks[ev.Lock]
	s := &Section{
		Acquisition:    id,
		Lock:           ev.Lock,
		Granted:        ev,
		Notifies:       ev.Notifies || r.lost[id],
		MaxHolders:     max(lock.Holders, 1),
		GrantsEveryone: lock.GrantsEveryone,
		ReadOnly:       r.processInfo(id.Client).ReadOnly,
		Unordered:      lock.Unordered,
		From:           MomentOf(ev),
		To:             Never,
	}
	if call != nil {
		s.Period = call.Period
	}
	if ev.OuterSection > 0 {
		s.nestIn(r.granted[Acquisition{id.Client, ev.OuterSection}])
	}
	s.Lease = Lease{From: s.From, CutAt: Never}
	s.Lease.declareEnd(r.newDeclaration(s, call, ev))
	r.sections = append(r.sections, s)
	r.granted[id] = s
	return s
}

// end ends the section with the event ev. A section that had ended earlier keeps that end.
func (s *Section) end(ev *trace.Event, how SectionEnding) {
	s.To = Earlier(s.To, MomentOf(ev))
	s.How = how
}

// Name returns the name of a section for use in sentences: the name of its client. If the client
// has several sections, the name has the section's number, and the lock if some of them are of
// other locks. The number counts the client's grants and not its failed attempts, because a report
// shows the grants.
func (h *History) Name(s *Section) string {
	number, several, otherLocks := 1, false, false
	for _, o := range h.Sections() {
		if o == s || o.Client != s.Client {
			continue
		}
		several, otherLocks = true, otherLocks || o.Lock != s.Lock
		if o.Acquisition.Section < s.Acquisition.Section {
			number++
		}
	}
	switch {
	case otherLocks:
		return fmt.Sprintf("%s (section %d, lock %s)", s.Client, number, s.Lock)
	case several:
		return fmt.Sprintf("%s (section %d)", s.Client, number)
	}
	return s.Client
}

// Pairs yields all pairs (a, b) of sections of one lock in which a was granted earlier than b, and
// had not ended when b was granted. end returns when a section ends. The pairs come in the order in
// which b was granted.
func (h *History) Pairs(end func(*Section) Moment) iter.Seq2[*Section, *Section] {
	return func(yield func(a, b *Section) bool) {
		for others, b := range concurrentGrants(h.Sections(), end) {
			for _, a := range others {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// GrantsBeyondRoom yields each section that was granted when the lock had no room for
// another holder, with the sections that had not ended then. end returns when a section
// ends. They come in the order of the grants.
func (h *History) GrantsBeyondRoom(end func(*Section) Moment) iter.Seq2[[]*Section, *Section] {
	return grantsBeyondRoom(h.Sections(), end)
}

// grantsBeyondRoom is [History.GrantsBeyondRoom] for these sections.
func grantsBeyondRoom(sections []*Section, end func(*Section) Moment) iter.Seq2[[]*Section, *Section] {
	return func(yield func(others []*Section, b *Section) bool) {
		for others, b := range concurrentGrants(sections, end) {
			// A lock with room for one client must not be granted to a second.
			if len(others) >= max(b.MaxHolders, 1) && !yield(others, b) {
				return
			}
		}
	}
}

// concurrentGrants yields each section, together with the sections of the same lock that had
// not ended when it was granted. The argument sections must be in the order of their grants.
func concurrentGrants(sections []*Section, end func(*Section) Moment) iter.Seq2[[]*Section, *Section] {
	return func(yield func(others []*Section, b *Section) bool) {
		running := map[string][]*Section{} // by lock: the sections that had not ended at the last grant
		for _, b := range sections {
			others := slices.DeleteFunc(running[b.Lock], func(a *Section) bool { return !b.From.Before(end(a)) })
			if !yield(others, b) {
				return
			}
			running[b.Lock] = append(others, b)
		}
	}
}

// AllLocksShared reports whether every lock has room for several clients.
func (h *History) AllLocksShared() bool {
	return !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return l.Holders < 2 })
}

// HasRanks reports whether the trace contains the order in which the lock was granted.
func (h *History) HasRanks() bool {
	return !slices.ContainsFunc(h.Sections(), func(s *Section) bool { return s.Rank() == 0 })
}

// hasNoEffect reports whether the storage refused everything that the section's work tried
// to write, and its client knows that. Then the section's reads have no consequence.
func (s *Section) hasNoEffect() bool {
	refused := func(s *Section) bool { return s.WritesRefused > 0 }
	return slices.ContainsFunc(s.WorkSections(), refused) && !slices.ContainsFunc(s.WorkOperations(), func(o *Operation) bool { return o.Makes != nil })
}

// DataSections lists the sections with operations, granted or not, in the order in which they
// began. It leaves out the sections whose writes were all refused. Of sections that are nested in
// each other it lists only the outermost, whose [Section.WorkOperations] are the operations of all
// of them.
func (h *History) DataSections() []*Section {
	var all []*Section
	for _, s := range slices.Concat(h.Sections(), h.read().ungranted) {
		if s.Outer == nil && len(s.WorkOperations()) > 0 && !s.hasNoEffect() {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *Section) int { return a.From.compare(b.From) })
	return all
}
