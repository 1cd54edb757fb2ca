package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// A tale is what happened in one run, as people would tell it: who got the lock, what
// went wrong, who got in meanwhile and whose write landed when. It leaves out whoever
// has no part in what broke.
type tale struct {
	history *history.History
	verdict *checks.Verdict
	faults  []Fault
	// misconduct is what the lock did that no lock may do, as package sim has it, or "".
	misconduct string
	nodes      []string // those on which a lock is kept
	// cast are the acquisitions that have a part in it, and last is the event after
	// which there is nothing to tell.
	cast map[history.Acquisition]bool
	last int
	// held are the messages that faults held back, by the number of the fault.
	held map[int]*history.Message

	clauses  []clause
	now      history.Moment
	ended    map[history.Acquisition]bool // its acquire has returned
	latest   map[string]int               // by client: its latest section
	began    map[history.Acquisition]int  // how many clauses there were when its step began
	expired  []history.Change             // that have not been told
	foreign  []history.Change             // that have not been told
	late     []history.Change             // that have not been told
	heldBack map[string]bool              // by client: a request that was held back is at the storage now
	resent   map[history.Acquisition]bool // it has sent a request again
}

// A clause is the smallest part of a story: "client-2" "gets the lock".
type clause struct {
	subject story.Subject
	does    string
	// verb is what it says that a client has done, if that is something at which a fault
	// can strike.
	verb trace.Verb
	// when is a clause that goes before it, such as just before its write.
	when string
	// fault is the effect of the fault that it tells of, if it does, and common says that it
	// happens as such faults commonly do.
	fault  trace.Effect
	common bool
	// returns says that a process is back.
	returns bool
	// leads says that it goes into one sentence with what comes next, and follows with
	// what came before.
	leads, follows bool
}

func newTale(run scenarios.Outcome, faults []Fault) *tale {
	h := run.History
	t := &tale{
		history: h, verdict: run.Verdict, faults: faults, misconduct: run.Conduct,
		cast: map[history.Acquisition]bool{}, held: map[int]*history.Message{}, ended: map[history.Acquisition]bool{},
		latest: map[string]int{}, began: map[history.Acquisition]int{}, heldBack: map[string]bool{}, resent: map[history.Acquisition]bool{},
	}
	for _, l := range h.Trace.Locks {
		for _, slot := range l.Slots {
			if !slices.Contains(t.nodes, slot.Node) {
				t.nodes = append(t.nodes, slot.Node)
			}
		}
	}
	for _, a := range h.Acts() {
		if m := h.HeldBy(a); m != nil {
			t.held[a.Fault] = m
		}
	}
	t.castings()
	t.chronicle().until(t.last)
	t.flush()
	return t
}

func (t *tale) add(c clause) { t.clauses = append(t.clauses, c) }

// say adds a clause about a process, after what has been put off.
func (t *tale) say(process, format string, args ...any) {
	t.next(clause{subject: story.Subject{Process: process}, does: fmt.Sprintf(format, args...)})
}

// did adds that a client has done something.
func (t *tale) did(client string, verb trace.Verb, does string) {
	t.next(clause{subject: story.Subject{Process: client}, verb: verb, does: does})
}

// next adds a clause after what has been put off.
func (t *tale) next(c clause) {
	t.flush()
	t.add(c)
}

// chronicle has what tells an event, or puts it off, or leaves it out.
func (t *tale) chronicle() *chronicle {
	all := new(chronicle)
	add := func(ev *trace.Event, tell func()) {
		all.add(ev, func() {
			t.now = history.MomentOf(ev)
			tell()
		})
	}
	for _, a := range t.history.Acts() {
		add(a.Struck, func() { t.strike(a.Fault) })
		add(a.Lifted, func() { t.lift(a.Fault) })
	}
	for _, s := range t.history.Spells() {
		if s.Recovered() == nil {
			continue
		}
		switch s.State {
		case history.Paused:
			add(s.Ended, func() { t.resume(s.Process) })
		case history.Down:
			add(s.Ended, func() { t.restart(s) })
		}
	}
	for _, ev := range t.history.RanOnEvents() {
		add(ev, func() { t.say(ev.Process, "runs on all the same") })
	}
	for _, c := range t.history.KeyChanges() {
		add(c.Event, func() { t.key(c) })
	}
	for _, c := range t.history.Calls() {
		add(c.Began, func() {
			t.latest[c.Client] = c.Section
			t.began[c.Acquisition] = len(t.clauses)
		})
		add(c.Ended, func() {
			if t.cast[c.Acquisition] {
				t.stepEnd(c)
			}
			t.ended[c.Acquisition] = t.ended[c.Acquisition] || c.Step == trace.Acquire
		})
		for _, ev := range c.Again {
			add(ev, func() { t.again(c) })
		}
	}
	for _, m := range t.history.Messages() {
		if m.Held != nil && m.To == trace.StorageName {
			add(m.Arrived, func() { t.heldBack[m.From] = true })
		}
	}
	for _, ev := range t.history.Served() {
		if by := (history.Acquisition{Client: ev.Client(), Section: ev.Section}); t.cast[by] && ev.Step == trace.Write {
			add(ev, func() { t.write(ev, by) })
		}
	}
	for _, s := range t.history.Sections() {
		if t.cast[s.Acquisition] {
			add(s.Lost, func() { t.say(s.Client, "learns that its lease is lost") })
		}
	}
	return all
}

// resume tells that a client is back.
func (t *tale) resume(process string) {
	if t.isClient(process) {
		t.next(clause{subject: story.Subject{Process: process}, does: "wakes up", returns: true})
	}
}

// lift notes that a stall has ended.
func (t *tale) lift(fault int) {
	if fault > len(t.faults) {
		return
	}
	if f := t.faults[fault-1]; f.Effect() == trace.StallsRequest {
		t.heldBack[f.Target()] = true
	}
}

// again tells that a client sends its write again, once.
func (t *tale) again(c *history.Call) {
	if t.cast[c.Acquisition] && c.Step == trace.Write && !t.resent[c.Acquisition] {
		t.say(c.Client, "gets no answer")
		t.say(c.Client, "sends its write again")
		t.resent[c.Acquisition] = true
	}
}

// strike tells of a fault, by its number. One of the start of the run needs no time.
func (t *tale) strike(fault int) {
	if fault > len(t.faults) {
		return
	}
	t.flush()
	f := t.faults[fault-1]
	on, does := story.FaultClause(f.Info())
	if f.Effect() == trace.KillsProcess && f.For == 0 && !t.isClient(f.Target()) {
		does += " and stays down"
	}
	if who := t.client(fault); who != "" {
		id := history.Acquisition{Client: who, Section: t.latest[who]}
		if t.cast[id] && !t.ended[id] {
			t.add(clause{subject: story.Subject{Process: who}, does: "asks for the lock"})
		}
	}
	when := story.When(f.Strikes, on.Itself())
	if n := len(t.clauses); n > 0 && hasJust(t.clauses[n-1], f.Strikes.When) {
		when = "then"
	}
	t.add(clause{subject: on, does: does, when: when, fault: f.Effect(), common: f.Is() == f.Kind()})
}

// hasJust says whether a point is reached with what a clause tells.
func hasJust(c clause, point trace.Point) bool {
	clauses := point.Clauses()
	if len(clauses) != 1 || clauses[0].Nth > 0 || clauses[0].Delay > 0 {
		return false
	}
	did, ok := clauses[0].Happening.(trace.Did)
	return ok && c.subject == story.Subject{Process: did.Process} && c.verb == did.Verb
}

// during says whether one fault strikes while another, which is no mere moment, lasts.
// Both are counted from 0.
func (t *tale) during(fault, other int) bool {
	var first *history.Act // of the fault
	for _, a := range t.history.Acts() {
		if a.Fault == fault+1 {
			first = a
			break
		}
	}
	return first != nil && slices.ContainsFunc(t.history.Acts(), func(a *history.Act) bool {
		return a.Fault == other+1 && !a.Instant && a.Struck.Seq < first.Struck.Seq && (a.Lifted == nil || a.Lifted.Seq > first.Struck.Seq)
	})
}

// restart tells what a server comes back with.
func (t *tale) restart(s *history.Spell) {
	var lost, older []string
	for _, c := range t.history.KeyChanges() {
		if c.Node != s.Process || c.Event.Seq < s.Ended.Seq || c.At > s.Ended.At {
			continue
		}
		switch {
		case c.Is == nil && c.Was != nil && c.Was.How == history.Forgotten:
			lost = append(lost, c.Was.Owner.Client)
		case c.Is != nil && !c.Touch && c.Is.By == nil:
			older = append(older, c.Is.Owner.Client)
		}
	}
	keys := func(owners []string) string {
		var all []string
		for _, owner := range owners {
			if key := owner + "'s key"; owner != "" && !slices.Contains(all, key) {
				all = append(all, key)
			}
		}
		return story.List(all)
	}
	does := fmt.Sprintf("is back after %s", story.About(s.Ended.At-s.Began.At))
	if keys := keys(lost); keys != "" {
		does += " without " + keys
	}
	if keys := keys(older); keys != "" {
		does += " with an older copy of " + keys
	}
	t.next(clause{subject: story.Subject{Process: s.Process}, does: does, returns: true})
}

// write tells what the storage made of a write, and what that broke.
func (t *tale) write(ev *trace.Event, by history.Acquisition) {
	t.flush()
	held := t.heldBack[by.Client]
	delete(t.heldBack, by.Client)
	over := t.harm(ev)
	late := held || len(t.clauses) > t.began[by] && (over != "" || !t.resent[by])
	write := story.Subject{Process: by.Client, Thing: "write"}
	if held && t.resent[by] {
		write.Thing = "first request"
	}
	switch {
	case !ev.OK:
		t.say(trace.StorageName, "refuses %s", write)
	case late:
		t.next(clause{subject: write, does: strings.TrimSpace("lands " + over)})
	case !t.resent[by]:
		t.did(by.Client, trace.Wrote, strings.TrimSpace("writes "+over))
	}
}

// harm is what a write did if it is the one that broke something, or "".
func (t *tale) harm(ev *trace.Event) string {
	broke := func(p checks.Property) (checks.Finding, bool) {
		f := t.verdict.Finding(p)
		return f, f.Outcome == checks.Violated && f.At == ev.Seq
	}
	if f, ok := broke(checks.NoLostUpdate); ok && t.stale(f) != nil {
		if len(f.Events) == 2 {
			return fmt.Sprintf("over %s update, which is lost", t.ofOther(ev, t.at(f.Events[0])))
		}
		return "what it has computed from an old version"
	}
	if f, ok := broke(checks.WriteOrder); ok {
		return fmt.Sprintf("over that of %s, whose grant is newer", t.at(f.Events[0]).Client())
	}
	if f, ok := broke(checks.GrantOrder); ok {
		return fmt.Sprintf("although %s has the lock by then", t.at(f.Events[0]).Process)
	}
	return ""
}

// ofOther is whose an earlier write was: client-2's, or its own newer one.
func (t *tale) ofOther(write, earlier *trace.Event) string {
	switch {
	case earlier.Client() != write.Client():
		return earlier.Client() + "'s"
	case earlier.Section == write.Section:
		return "its own newer"
	}
	return "its own"
}

// stepEnd tells what came of a client's step.
func (t *tale) stepEnd(c *history.Call) {
	ev := c.Ended
	switch {
	case ev.Step == trace.Acquire && ev.OK && ev.Ungranted:
		t.say(ev.Process, "goes ahead though no node has granted it the lock")
	case ev.Step == trace.Acquire && ev.OK:
		t.next(clause{
			subject: story.Subject{Process: ev.Process}, verb: trace.Acquired,
			does: "gets the lock" + t.on(t.standing(c.Acquisition)), when: t.despite(ev),
		})
	case ev.Step == trace.Acquire:
		if gravest(t.verdict) != checks.Progress { // else the end of the story tells of all attempts
			t.say(ev.Process, "fails to get the lock")
		}
	case ev.Step == trace.Read && ev.OK:
		t.did(ev.Process, trace.HasRead, "reads")
	case ev.Step == trace.Extend && !ev.OK:
		t.say(ev.Process, "fails to extend its lease")
	case ev.Step == trace.Extend && t.shows(ev.Seq):
		t.say(ev.Process, "extends its lease")
	case ev.Step == trace.Release:
		t.did(ev.Process, trace.Released, "releases")
	case ev.Step.AtStorage() && !ev.OK && !ev.Refused:
		t.say(ev.Process, "gives up on its %s", ev.Step)
	}
}

// shows says whether an event shows one of the violations.
func (t *tale) shows(seq int) bool {
	return slices.ContainsFunc(t.broken(), func(f checks.Finding) bool { return f.At == seq || slices.Contains(f.Events, seq) })
}

// despite says whose lease or section a grant falls into, if that is what broke.
func (t *tale) despite(ev *trace.Event) string {
	for _, p := range []checks.Property{checks.LeaseExclusion, checks.SectionExclusion} {
		f := t.verdict.Finding(p)
		if f.Outcome != checks.Violated || len(f.Events) != 2 || f.Events[1] != ev.Seq {
			continue
		}
		holder := t.at(f.Events[0]).Process
		switch {
		case p == checks.LeaseExclusion:
			return fmt.Sprintf("although %s's lease has not ended", holder)
		case gravest(t.verdict).Card().Gravity > checks.GrantOrder.Card().Gravity:
			return fmt.Sprintf("while %s is still in its section", holder)
		}
	}
	return ""
}

// on says on which of several nodes a lock is held.
func (t *tale) on(nodes []string) string {
	nodes = t.ordered(nodes)
	if len(t.nodes) < 2 || len(nodes) == len(t.nodes) || len(nodes) == 0 {
		return ""
	}
	return " on " + story.List(nodes)
}

func (t *tale) ordered(nodes []string) []string {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(t.nodes, a), slices.Index(t.nodes, b)), cmp.Compare(a, b))
	})
	return slices.Compact(nodes)
}
