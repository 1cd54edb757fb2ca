package story

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A clauseBuilder makes the clauses of a history. Each method whose name begins with add,
// except the general ones such as addText, adds the clauses about one subject.
type clauseBuilder struct {
	*history.History
	messages bool
	clauses  []Clause
	crowd    bool // the run has so many clients that its timeline is folded

	// acquires has each acquisition's call of acquire, and releases its first call of
	// release.
	acquires, releases map[history.Acquisition]*history.Call
	// keys has the lock keys that each acquisition has set or that were restored for it.
	// meddledAt has the event at which an acquisition first removed another client's key.
	keys      map[history.Acquisition][]*history.Holding
	meddledAt map[history.Acquisition]*trace.Event
}

func newClauseBuilder(h *history.History, messages bool) *clauseBuilder {
	s := &clauseBuilder{
		History:   h,
		messages:  messages,
		crowd:     !messages && isCrowd(h),
		clauses:   make([]Clause, 0, 2*len(h.Calls())), // most clauses are about steps
		acquires:  map[history.Acquisition]*history.Call{},
		releases:  map[history.Acquisition]*history.Call{},
		keys:      map[history.Acquisition][]*history.Holding{},
		meddledAt: map[history.Acquisition]*trace.Event{},
	}
	for _, c := range h.Calls() {
		switch c.Step {
		case trace.Acquire:
			s.acquires[c.Acquisition] = c
		case trace.Release:
			if s.releases[c.Acquisition] == nil {
				s.releases[c.Acquisition] = c
			}
		}
	}
	for _, k := range h.Holdings() {
		if s.belongsToLock(k.Key) {
			s.keys[k.Owner] = append(s.keys[k.Owner], k)
		}
	}
	for _, c := range h.KeyChanges() {
		if by := history.AcquisitionOf(c.Event.By); s.belongsToLock(c.Key) && c.How == history.Removed && c.Event.By != nil && !c.Event.By.IsOperator() && !isOwnKey(c) && s.meddledAt[by] == nil {
			s.meddledAt[by] = c.Event
		}
	}
	return s
}

// add adds a clause about an event.
func (s *clauseBuilder) add(ev *trace.Event, clause Clause) {
	clause.moment, clause.At, clause.First, clause.Last = history.MomentOf(ev), ev.At, ev.Seq, ev.Seq
	s.setDeed(ev, &clause)
	s.clauses = append(s.clauses, clause)
}

// addText adds a clause about the event's own process.
func (s *clauseBuilder) addText(ev *trace.Event, m Mood, format string, args ...any) {
	s.add(ev, Clause{Subject: Raw(ev.Process), Mood: m, Predicate: Raw(fmt.Sprintf(format, args...))})
}

// addPossessionText adds a clause about something that belongs to the event's own process.
func (s *clauseBuilder) addPossessionText(ev *trace.Event, m Mood, format string, args ...any) {
	s.add(ev, Clause{Subject: Raw(ev.Process), Mood: m, IsAboutPossession: true, Predicate: Raw("its " + fmt.Sprintf(format, args...))})
}

// addEffect adds a clause about what a fault does to a process.
func (s *clauseBuilder) addEffect(ev *trace.Event, format string, args ...any) {
	s.add(ev, Clause{Subject: Raw(ev.Process), Mood: FaultMood, Part: FaultActs, Predicate: Raw(fmt.Sprintf(format, args...))})
}

// addMergeable adds a clause that is merged with neighbouring clauses that have the same
// merge key. merge writes the predicate of the merged clause from the items of all of them.
func (s *clauseBuilder) addMergeable(ev *trace.Event, clause Clause, merge func([]string) string) {
	clause.merge = merge
	clause.Predicate = Raw(merge(clause.items))
	s.add(ev, clause)
}

// addClients describes what clients did and learned outside their steps, what services did to
// their requests, the periods of the schedule, and the horizon.
func (s *clauseBuilder) addClients() {
	for _, ev := range s.ClientEvents() {
		switch ev.Kind {
		case trace.KindCancel:
			s.addText(ev, PlainMood, "cancels its %s", ev.Step)
		case trace.KindLost:
			s.addText(ev, PlainMood, "learns from the lock that %s", s.lossText(ev))
		case trace.KindRanOn:
			s.addText(ev, WrongMood, "kept running while paused%s", reasonSuffix(ev.Text))
		case trace.KindDone:
			switch {
			case !ev.OK && s.hasContinued(ev):
				s.addText(ev, PlainMood, "has finished, but a section failed%s", s.stopReason(ev))
			case !ev.OK:
				s.addText(ev, PlainMood, "stops%s", s.stopReason(ev))
			case s.messages:
				s.addText(ev, DetailMood, "has finished")
			}
		}
	}
	for _, ev := range s.ServiceEvents() {
		s.addText(ev, WrongMood, "forwards %s %s without its token %s", Possessive(ev.Client()), ev.Step, Token(ev.Token))
	}
	for _, ev := range s.Periods() {
		s.add(ev, Clause{Predicate: Raw(fmt.Sprintf("period %d begins", ev.Period))})
	}
	if ev := s.Horizon(); ev != nil {
		s.add(ev, Clause{Predicate: Raw("the run is cut off here, at its horizon (its time limit)")})
	}
}

// hasContinued reports whether a client asked for a lock again after the failure that its program
// returned as an error at the end. If it did, this failure is not the reason why the client
// stopped.
func (s *clauseBuilder) hasContinued(ev *trace.Event) bool {
	f, _ := s.CauseOfEnd(ev)
	return f != nil && slices.ContainsFunc(s.Calls(), func(c *history.Call) bool {
		return c.Client == ev.Process && c.Step == trace.Acquire && c.Began != nil && c.Began.Seq > f.Ended.Seq
	})
}

// stopReason says why a client stops. It does not repeat the error if a clause about the
// failed step already shows it.
func (s *clauseBuilder) stopReason(ev *trace.Event) string {
	switch f, before := s.CauseOfEnd(ev); {
	case f == nil:
	case before != "":
		return reasonSuffix(before)
	case f.Ended.Refused:
		return fmt.Sprintf(", because its %s was refused", f.Step)
	case f.Step == trace.Mint:
		return ", because its request for a fencing token failed"
	default:
		return fmt.Sprintf(", because its %s failed", f.Step)
	}
	return reasonSuffix(ev.Text)
}

// reasonSuffix returns a colon and the quoted text; "" if the text is empty.
func reasonSuffix(text string) string {
	if text == "" {
		return ""
	}
	return ": " + Quoted(text)
}

// describeNodes says on which of a lock's nodes something is true: "on all 5 nodes", "on redis-1
// and redis-2 (2 of 5 nodes)". If a node is a replica, and so not one of the lock's nodes,
// describeNodes leaves the count out.
func (s *clauseBuilder) describeNodes(nodes []string) string {
	nodes = s.InWorldOrder(nodes)
	all := s.Keepers()
	counted := !slices.ContainsFunc(nodes, func(n string) bool { return !slices.Contains(all, n) })
	switch {
	case len(nodes) == 0 && len(all) == 1:
		return "on no node"
	case len(nodes) == 0:
		return fmt.Sprintf("on none of the %d nodes", len(all))
	case counted && len(nodes) == len(all) && len(all) > 1:
		return fmt.Sprintf("on all %d nodes", len(all))
	}
	text := "on " + List(nodes)
	if len(nodes) == 1 && s.Role(nodes[0]) == trace.RoleCluster {
		text = "in " + nodes[0]
	}
	if counted && len(all) > 1 {
		text += fmt.Sprintf(" (%d of %d nodes)", len(nodes), len(all))
	}
	return text
}

// theLock names a lock, or returns "the lock" if there is only one.
func (s *clauseBuilder) theLock(name string) string {
	if len(s.Trace.Locks) > 1 {
		return "the lock " + name
	}
	return "the lock"
}

// lossText describes the loss signal that a client gets: the lease, and how long after the end of
// the lease the signal came. If the critical section had ended before the signal, lossText says
// this instead of the delay. A client that loses a session gets a signal for each section that used
// the session. Therefore the text gives the number of a section that is not the client's latest.
func (s *clauseBuilder) lossText(lost *trace.Event) string {
	section := s.Section(history.Acquisition{Client: lost.Process, Section: lost.Section})
	text := s.itsLease(s.lockIn(lost)) + " is lost"
	switch {
	case section == nil || section.Lost != lost:
	case section.To.Before(history.MomentOf(lost)):
		if s.hasBegunLaterSection(section, lost) {
			return fmt.Sprintf("the lease of its section %d is lost, after the end of that section", section.Section)
		}
		text += ", after the end of its section"
	default:
		text += s.lossDelay(section)
	}
	return text
}

// hasBegunLaterSection reports whether a section's client had begun a later section before
// an event.
func (s *clauseBuilder) hasBegunLaterSection(section *history.Section, before *trace.Event) bool {
	return slices.ContainsFunc(s.Sections(), func(o *history.Section) bool {
		return o.Client == section.Client && section.From.Before(o.From) && o.From.Before(history.MomentOf(before))
	})
}

// lossDelay says how late the loss signal of a section came, counted from the end of the lease;
// "" if it came in time. A paused client cannot be notified, so the time of its pauses does not
// count.
func (s *clauseBuilder) lossDelay(section *history.Section) string {
	late := s.NotifiedLate(section)
	if late == 0 {
		return ""
	}
	if all := section.Lost.At - section.Lease.Latest(history.Never.Seq).Until.At; all > late {
		return fmt.Sprintf(", %s after the lease ended (%s without its pause)", Span(all), Span(late))
	}
	return fmt.Sprintf(", %s after the lease ended", Span(late))
}
