package history

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Section is one critical section of one client. A client that has several
// handles on a lock can be in several at once.
type Section struct {
	Acquisition
	Lock string
	// Within is the section of the same client in which it is nested; nil for none. inner are
	// those that are nested in it.
	Within *Section
	inner  []*Section
	// Period is the period of the schedule that the client means to run; 0 is none.
	Period int
	// Granted is the end of acquire; nil if the lock was never granted.
	Granted *trace.Event
	// Minted are what gave the section fencing tokens of its own, in order: the
	// ends of acquire or of mint.
	Minted []*trace.Event
	// Room is for how many at one moment the lock has room, mostly one.
	Room int
	// Open: the lock lets everybody in. Unordered: its tokens have no order.
	Open, Unordered bool
	// ReadOnly: the client never writes.
	ReadOnly bool
	// Notifies: the lock tells this client if the lease is lost.
	Notifies bool
	From, To Moment
	Released *trace.Event
	// Lost is when the lock told the client that its lease is lost; nil if it did not.
	Lost *trace.Event
	// How says how it ended.
	How   Departure
	Lease Lease

	// Operations are what was applied, in the order of the storage: every write
	// that the storage made, even after the section had ended, and every read
	// whose answer reached the client.
	Operations []*Operation
	// knows is what the client knew of the objects, in order.
	knows []knowledge
	// Begun counts the writes that the client began, and Refused and Applied
	// those of which it learnt that the storage refused or made them. Settled is
	// when it last learnt of one.
	Begun, Refused, Applied int
	// done counts the steps that have ended between the grant and the release;
	// failed says that one of them failed.
	done    int
	failed  bool
	Settled Moment
}

// Rank is the section's place in the order of grants. Where everybody is let in,
// the order is that of the tokens, if they have one.
func (s *Section) Rank() uint64 {
	if s.Open && !s.Unordered && len(s.Minted) > 0 {
		return s.Token()
	}
	return s.Granted.Rank
}

// Token is the fencing token with which the section went to the storage, the last that it
// was given; 0 is none.
func (s *Section) Token() uint64 {
	if n := len(s.Minted); n > 0 {
		return s.Minted[n-1].Token
	}
	return s.Granted.Token
}

// A reading is the chapter of the sections: those that were granted, with their leases,
// and what they and others did to the storage.
type reading struct {
	*History
	// sections are those that were granted, in the order in which acquire returned.
	sections []*Section
	granted  map[Acquisition]*Section
	// loose are operations that belong to no granted section, grouped by the failed call
	// that they followed, or alone.
	loose []*Section
	// versions are the applied writes, in the order of the storage, and made the same by
	// what they made.
	versions []*Version
	made     map[state][]*Version
	// lives are the last signs of life of each client's sessions that it knows of.
	lives map[life]*trace.Event
	// sights are what the storage let see of its objects, in order.
	sights []Sight
}

// Sections are the sections that were granted, in the order in which acquire returned.
func (h *History) Sections() []*Section { return h.read().sections }

// Section is a section that was granted; nil for any other. Its number counts the calls of
// acquire of its client, also those that failed: a client that had to try often has its
// first section under a high number.
func (h *History) Section(id Acquisition) *Section { return h.read().granted[id] }

func (h *History) read() *reading {
	return h.reading.of(func() *reading {
		r := &reading{History: h, granted: map[Acquisition]*Section{}, made: map[state][]*Version{}, lives: map[life]*trace.Event{}}
		r.readSections()
		r.readStorage()
		return r
	})
}

// readSections finds the sections and their leases.
func (r *reading) readSections() {
	calls := r.called().by
	for _, ev := range r.apart {
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
				s.end(ev, left)
				s.Released = ev
				s.Lease.Cut = Earlier(s.Lease.Cut, MomentOf(ev))
			case ev.Step == trace.Write && s != nil:
				s.Begun++
				if ev.Leaves {
					s.end(ev, left)
					s.Lease.Cut = Earlier(s.Lease.Cut, MomentOf(ev))
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
				s.learnt(ev)
			case !ev.OK:
			case ev.Step == trace.Acquire:
				s = r.grant(id, begun, ev)
			case ev.Step == trace.Extend && s != nil && MomentOf(ev).Before(s.Lease.Cut):
				s.Lease.prolong(r.declare(s, cmp.Or(begun, r.renewal(s, ev)), ev))
			}
			if ev.Minted && s != nil {
				s.Minted = append(s.Minted, ev)
			}
		case trace.KindAlive:
			r.alive(ev)
		case trace.KindLost:
			if s != nil {
				s.Lease.Cut = Earlier(s.Lease.Cut, MomentOf(ev))
				s.Lost = cmp.Or(s.Lost, ev)
			}
		case trace.KindCrash:
			for _, s := range r.sections {
				if s.Client == ev.Process {
					s.Lease.Cut = Earlier(s.Lease.Cut, MomentOf(ev))
				}
			}
			r.leave(ev, clientCrashed)
		case trace.KindDone:
			r.leave(ev, clientGaveUp)
		}
	}
	r.dateBySlots()
}

// A Departure is how a section ended.
type Departure string

const (
	// StillIn: it has not ended.
	StillIn Departure = ""
	// left: release was called.
	left          Departure = "released"
	clientCrashed Departure = "its client crashed"
	clientGaveUp  Departure = "its client gave up"
)

// leave ends the sections that a client is in.
func (r *reading) leave(ev *trace.Event, how Departure) {
	for _, s := range r.sections {
		if s.Client == ev.Process && s.To == Never {
			s.end(ev, how)
		}
	}
}

// learnt takes in what became of a write.
func (s *Section) learnt(ev *trace.Event) {
	switch {
	case ev.OK:
		s.Applied++
		s.Settled = MomentOf(ev)
	case ev.Refused:
		s.Refused++
	}
}

// Completed reports that the client released the section after it had done what
// it came for: at least one write, all of which it knows to be applied, or, for a
// client that never writes, at least one other step, none of which failed. Of several that
// are nested all are completed or none.
func (s *Section) Completed() bool {
	begun, applied, done := 0, 0, 0
	for _, o := range s.Together() {
		if o.Released == nil || s.ReadOnly && o.failed {
			return false
		}
		begun, applied, done = begun+o.Begun, applied+o.Applied, done+o.done
	}
	if s.ReadOnly {
		return done > 0
	}
	return begun > 0 && applied == begun
}

// LeftByWriting reports that the section ended with a write, which gave the lock up.
func (s *Section) LeftByWriting() bool {
	return s.How == left && s.Released != nil && s.To.Before(MomentOf(s.Released))
}

// Called is the call of acquire that led to the section, or its end if nothing else is
// known.
func (s *Section) Called() *trace.Event { return s.Lease.Ends[0].Call }

// Over is the event with which the section ended; the last of the run for one that has
// not.
func (h *History) Over(s *Section) *trace.Event { return cmp.Or(h.Event(s.To.Seq), h.Last()) }

// CutShort says how a section ended that was not released; "" if it was, or has not
// ended.
func (s *Section) CutShort() string {
	if s.How == left {
		return ""
	}
	return string(s.How)
}

// grant begins a section with the end of a successful acquire.
func (r *reading) grant(id Acquisition, call, ev *trace.Event) *Section {
	lock := r.locks[ev.Lock]
	s := &Section{
		Acquisition: id,
		Lock:        ev.Lock,
		Granted:     ev,
		Notifies:    ev.Notifies || r.lost[id],
		Room:        max(lock.Holders, 1),
		Open:        lock.Open,
		ReadOnly:    r.process(id.Client).ReadOnly,
		Unordered:   lock.Unordered,
		From:        MomentOf(ev),
		To:          Never,
	}
	if call != nil {
		s.Period = call.Period
	}
	if ev.Within > 0 {
		s.nest(r.granted[Acquisition{id.Client, ev.Within}])
	}
	s.Lease = Lease{From: s.From, Cut: Never}
	s.Lease.prolong(r.declare(s, call, ev))
	r.sections = append(r.sections, s)
	r.granted[id] = s
	return s
}

func (s *Section) end(ev *trace.Event, how Departure) {
	s.To = Earlier(s.To, MomentOf(ev))
	s.How = how
}

// Name is what sentences call a section: by its client, and by its number if
// the client has several; where some are of other locks, by its lock as well.
func (h *History) Name(s *Section) string {
	several := false
	for _, o := range h.Sections() {
		switch {
		case o == s || o.Client != s.Client:
		case o.Lock != s.Lock:
			return fmt.Sprintf("%s (section %d, lock %s)", s.Client, s.Acquisition.Section, s.Lock)
		default:
			several = true
		}
	}
	if several {
		return s.String()
	}
	return s.Client
}

// Pairs yields any two sections of one lock of which the one granted first, which
// comes first, was not over when the other was granted; over is when it is over.
// The pairs come in the order of the later grants.
func (h *History) Pairs(over func(*Section) Moment) iter.Seq2[*Section, *Section] {
	return func(yield func(a, b *Section) bool) {
		for in, b := range meetings(h.Sections(), over) {
			for _, a := range in {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// Crowds yields each section that was granted when as many of its lock were not over as the
// lock has room for, with those; over is when a section is over. They come in the order of
// the grants.
func (h *History) Crowds(over func(*Section) Moment) iter.Seq2[[]*Section, *Section] {
	return crowds(h.Sections(), over)
}

func crowds(sections []*Section, over func(*Section) Moment) iter.Seq2[[]*Section, *Section] {
	return func(yield func(in []*Section, b *Section) bool) {
		for in, b := range meetings(sections, over) {
			// That is all that there is to excluding: a lock with room for one lets in no second.
			if len(in) >= max(b.Room, 1) && !yield(in, b) {
				return
			}
		}
	}
}

// meetings yields each of some sections, which are in the order of their grants, with those of
// its lock that were not over when it was granted.
func meetings(sections []*Section, over func(*Section) Moment) iter.Seq2[[]*Section, *Section] {
	return func(yield func(in []*Section, b *Section) bool) {
		running := map[string][]*Section{} // by lock: those that were not over at the last grant
		for _, b := range sections {
			in := slices.DeleteFunc(running[b.Lock], func(a *Section) bool { return !b.From.Before(over(a)) })
			if !yield(in, b) {
				return
			}
			running[b.Lock] = append(in, b)
		}
	}
}

// SharedLocks reports that each lock has room for several.
func (h *History) SharedLocks() bool {
	return !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return l.Holders < 2 })
}

// Ranked reports whether the trace says in which order the lock was granted.
func (h *History) Ranked() bool {
	return !slices.ContainsFunc(h.Sections(), func(s *Section) bool { return s.Rank() == 0 })
}

// turnedAway says that the storage has refused all that the section wanted written, as its
// client knows: what it had read has led to nothing.
func (s *Section) turnedAway() bool {
	refused := func(s *Section) bool { return s.Refused > 0 }
	return slices.ContainsFunc(s.Together(), refused) && !slices.ContainsFunc(s.Work(), func(o *Operation) bool { return o.Makes != nil })
}

// DataSections lists the sections with operations, granted or not, in the order in
// which they began, but for those that were turned away. Of those that are nested in one
// another it is the outermost: the operations of all of them are its [Section.Work].
func (h *History) DataSections() []*Section {
	var all []*Section
	for _, s := range slices.Concat(h.Sections(), h.read().loose) {
		if s.Within == nil && len(s.Work()) > 0 && !s.turnedAway() {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *Section) int { return a.From.compare(b.From) })
	return all
}
