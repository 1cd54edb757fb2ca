package checks

import (
	"fmt"
	"iter"
	"slices"

	"github.com/locksim/locksim/trace"
)

// acquisition is one call of acquire by one client.
type acquisition struct {
	client  string
	section int
}

func (a acquisition) String() string { return fmt.Sprintf("%s (section %d)", a.client, a.section) }

func acquisitionOf(a *trace.Actor) acquisition {
	if a == nil {
		return acquisition{}
	}
	return acquisition{a.Client, a.Section}
}

// history is a trace told as sections, their leases, and what they did to the
// storage.
type history struct {
	trace *trace.Trace
	// sections are those that were granted, in the order in which acquire
	// returned.
	sections []*section
	// loose are operations that belong to no granted section, grouped by the
	// failed call that they followed, or alone.
	loose []*section
	// versions are the applied writes, in the order of the storage.
	versions []*version
	// shown is what the storage let see of its objects, in order.
	shown []sight

	info   map[string]trace.LockInfo
	clocks map[string][]*trace.Event
	// ranOn is when each process first ran on while it was paused.
	ranOn map[string]moment
	// lost are the acquisitions that were told that their lease is lost.
	lost map[acquisition]bool
}

// A section is one critical section of one client. A client that has several
// handles on a lock can be in several at once.
type section struct {
	acquisition
	lock string
	// granted is the end of acquire; nil if the lock was never granted.
	granted *trace.Event
	// minted are what gave the section fencing tokens of its own, in order: the
	// ends of acquire or of mint.
	minted []*trace.Event
	// open: the lock lets everybody in. unordered: its tokens have no order.
	open, unordered bool
	// readOnly: the client never writes.
	readOnly bool
	// notifies: the lock tells this client if the lease is lost.
	notifies bool
	from, to moment
	released *trace.Event
	// cutShort says how a section ended that was not released, or "".
	cutShort string
	lease    lease

	// operations are what was applied, in the order of the storage: every write
	// that the storage made, even after the section had ended, and every read
	// whose answer reached the client.
	operations []*operation
	// knows is what the client knew of the objects, in order.
	knows []knowledge
	// begun counts the writes that the client began, and refused and applied
	// those of which it learnt that the storage refused or made them. settled is
	// when it last learnt of one.
	begun, refused, applied int
	// done counts the steps that have ended between the grant and the release;
	// failed says that one of them failed.
	done    int
	failed  bool
	settled moment
}

// rank is the section's place in the order of grants. Where everybody is let in,
// the order is that of the tokens, if they have one.
func (s *section) rank() uint64 {
	if n := len(s.minted); s.open && !s.unordered && n > 0 {
		return s.minted[n-1].Token
	}
	return s.granted.Rank
}

func newHistory(t *trace.Trace) *history {
	h := &history{
		trace:  t,
		info:   map[string]trace.LockInfo{},
		clocks: map[string][]*trace.Event{},
		ranOn:  map[string]moment{},
		lost:   map[acquisition]bool{},
	}
	for _, l := range t.Locks {
		h.info[l.Name] = l
	}
	for i := range t.Events {
		ev := &t.Events[i]
		switch ev.Kind {
		case trace.KindLost: // leases look ahead, so these come first
			h.lost[acquisition{ev.Process, ev.Section}] = true
		case trace.KindClock:
			h.clocks[ev.Process] = append(h.clocks[ev.Process], ev)
		case trace.KindRanOn:
			if _, known := h.ranOn[ev.Process]; !known {
				h.ranOn[ev.Process] = momentOf(ev)
			}
		}
	}
	h.readSections()
	h.readStorage()
	return h
}

// readSections finds the sections and their leases.
func (h *history) readSections() {
	type call struct {
		acquisition
		step trace.Step
	}
	calls := map[call]*trace.Event{}
	granted := map[acquisition]*section{}
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		id := acquisition{ev.Process, ev.Section}
		s := granted[id]
		switch ev.Kind {
		case trace.KindBegin:
			calls[call{id, ev.Step}] = ev
			switch {
			case ev.Step == trace.Release && s != nil && s.released == nil:
				s.end(ev, "")
				s.released = ev
				s.lease.cut = earlier(s.lease.cut, momentOf(ev))
			case ev.Step == trace.Write && s != nil:
				s.begun++
			}
		case trace.KindEnd:
			begun := calls[call{id, ev.Step}]
			delete(calls, call{id, ev.Step}) // what comes without a call has none
			if s != nil && ev.Step != trace.Extend && ev.Step != trace.Release {
				s.failed = s.failed || !ev.OK
				s.done++
			}
			switch {
			case ev.Step == trace.Write && s != nil:
				s.learnt(ev)
			case !ev.OK:
			case ev.Step == trace.Acquire:
				s = h.grant(id, begun, ev)
				granted[id] = s
			case ev.Step == trace.Extend && s != nil && momentOf(ev).before(s.lease.cut):
				s.lease.prolong(h.declare(s, begun, ev))
			}
			if ev.Minted && s != nil {
				s.minted = append(s.minted, ev)
			}
		case trace.KindLost:
			if s != nil {
				s.lease.cut = earlier(s.lease.cut, momentOf(ev))
			}
		case trace.KindCrash:
			for _, s := range h.sections {
				if s.client == ev.Process {
					s.lease.cut = earlier(s.lease.cut, momentOf(ev))
				}
			}
			for _, s := range h.inside(ev.Process) {
				s.end(ev, "its client crashed")
			}
		case trace.KindDone:
			for _, s := range h.inside(ev.Process) {
				s.end(ev, "its client gave up")
			}
		}
	}
}

// learnt takes in what became of a write.
func (s *section) learnt(ev *trace.Event) {
	switch {
	case ev.OK:
		s.applied++
		s.settled = momentOf(ev)
	case ev.Refused:
		s.refused++
	}
}

// readOnly reports whether a client never writes.
func (h *history) readOnly(client string) bool {
	return slices.ContainsFunc(h.trace.Processes, func(p trace.ProcessInfo) bool { return p.Name == client && p.ReadOnly })
}

// completed reports that the client released the section after it had done what
// it came for: at least one write, all of which it knows to be applied, or, for a
// client that never writes, at least one other step, none of which failed.
func (s *section) completed() bool {
	if s.readOnly {
		return s.done > 0 && !s.failed && s.released != nil
	}
	return s.begun > 0 && s.applied == s.begun && s.released != nil
}

// grant begins a section with the end of a successful acquire.
func (h *history) grant(id acquisition, call, ev *trace.Event) *section {
	s := &section{
		acquisition: id,
		lock:        ev.Lock,
		granted:     ev,
		notifies:    ev.Notifies || h.lost[id],
		open:        h.info[ev.Lock].Open,
		readOnly:    h.readOnly(id.client),
		unordered:   h.info[ev.Lock].Unordered,
		from:        momentOf(ev),
		to:          forever,
	}
	s.lease = lease{from: s.from, cut: forever}
	s.lease.prolong(h.declare(s, call, ev))
	h.sections = append(h.sections, s)
	return s
}

func (s *section) end(ev *trace.Event, cutShort string) {
	s.to = earlier(s.to, momentOf(ev))
	s.cutShort = cutShort
}

// inside lists the sections that a client is in.
func (h *history) inside(client string) []*section {
	var open []*section
	for _, s := range h.sections {
		if s.client == client && s.to == forever {
			open = append(open, s)
		}
	}
	return open
}

// nobodyExcluded reports that there are locks, and that each lets everybody in.
func (h *history) nobodyExcluded() bool {
	return !slices.ContainsFunc(h.trace.Locks, func(l trace.LockInfo) bool { return !l.Open })
}

// name is what sentences call a section: by its client, and by its number if
// the client has several.
func (h *history) name(s *section) string {
	for _, o := range h.sections {
		if o != s && o.client == s.client {
			return s.String()
		}
	}
	return s.client
}

// pairs yields any two sections of one lock of which the one granted first, which
// comes first, was not over when the other was granted; over is when it is over.
// The pairs come in the order of the later grants.
func (h *history) pairs(over func(*section) moment) iter.Seq2[*section, *section] {
	return func(yield func(a, b *section) bool) {
		running := map[string][]*section{} // by lock: those that were not over at the last grant
		for _, b := range h.sections {
			others := slices.DeleteFunc(running[b.lock], func(a *section) bool { return !b.from.before(over(a)) })
			for _, a := range others {
				if !yield(a, b) {
					return
				}
			}
			running[b.lock] = append(others, b)
		}
	}
}

// ranked reports whether the trace says in which order the lock was granted.
func (h *history) ranked() bool {
	return !slices.ContainsFunc(h.sections, func(s *section) bool { return s.rank() == 0 })
}

// dataSections lists the sections with operations, granted or not, in the order in
// which they began.
func (h *history) dataSections() []*section {
	var all []*section
	for _, s := range slices.Concat(h.sections, h.loose) {
		if len(s.operations) > 0 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *section) int {
		switch {
		case a.from.before(b.from):
			return -1
		case b.from.before(a.from):
			return 1
		}
		return 0
	})
	return all
}

// worse returns the violation that came first. To tell whose fault a violation is can
// mean to read the whole trace, so what is compared often is compared by its moment
// alone, and told only in the end.
func worse(a, b Finding) Finding {
	if a.Outcome != Violated || b.Outcome == Violated && b.At < a.At {
		return b
	}
	return a
}
