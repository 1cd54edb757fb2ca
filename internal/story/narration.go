package story

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A narrator makes the statements of a paragraph, event by event.
type narrator struct {
	*Paragraph
	// parties are the acquisitions (calls of acquire, with everything that follows from them)
	// that contributed to the damage.
	parties map[history.Acquisition]bool

	now              history.Moment
	acquireReturned  map[history.Acquisition]bool // acquisitions whose acquire has returned
	latestSection    map[string]int               // by client: its latest section
	statementsBefore map[history.Acquisition]int  // how many there were before its latest step
	expiredKeys      []history.Change             // expiries that have no statement yet
	foreignKeys      []history.Change             // changes of another client's key, not stated yet
	lateKeys         []history.Change             // keys set late that have no statement yet
	heldBack         map[string]bool              // clients whose held-back request has arrived
	hasResent        map[history.Acquisition]bool // acquisitions that have sent a request again
}

// narrate makes the statements of a paragraph.
func (p *Paragraph) narrate() {
	n := &narrator{
		Paragraph: p, parties: p.verdict.Parties(p.history),
		acquireReturned: map[history.Acquisition]bool{}, latestSection: map[string]int{}, statementsBefore: map[history.Acquisition]int{},
		heldBack: map[string]bool{}, hasResent: map[history.Acquisition]bool{},
	}
	n.queueEvents().RunUntil(n.lastSeq())
	n.flushKeys()
}

// lastSeq returns the number of the last event that a paragraph describes: nothing that
// happens after the damage and the faults matters.
func (n *narrator) lastSeq() int {
	last := 0
	for _, f := range n.verdict.Violations() {
		last = max(last, f.At)
	}
	for _, a := range n.history.Acts() {
		last = max(last, a.Struck.Seq)
	}
	for _, c := range n.history.KeyChanges() {
		if c.After == nil && c.Before != nil && c.Before.How == history.Forgotten && c.Before.Owner.Client != "" {
			last = max(last, c.Event.Seq)
		}
	}
	return last
}

// add adds a statement at the end of the paragraph.
func (n *narrator) add(s statement) { n.statements = append(n.statements, s) }

// addAfterPending first makes the postponed statements about keys (see flushKeys), and then adds
// a statement.
func (n *narrator) addAfterPending(s statement) {
	n.flushKeys()
	n.add(s)
}

// state adds a statement about a process.
func (n *narrator) state(process, format string, args ...any) {
	n.addAfterPending(statement{subject: Subject{Process: process}, predicate: fmt.Sprintf(format, args...)})
}

// stateAction adds a statement about an action of a client. verb is the action, at which a fault
// can strike.
func (n *narrator) stateAction(client string, verb trace.Verb, does string) {
	n.addAfterPending(statement{subject: Subject{Process: client}, verb: verb, predicate: does})
}

// queueEvents returns a queue of all events that matter, each with a function that makes a
// statement about it or postpones the statement.
func (n *narrator) queueEvents() *history.EventQueue {
	queue, h := new(history.EventQueue), n.history
	add := func(ev *trace.Event, makeStatement func()) {
		queue.Add(ev, func() {
			n.now = history.MomentOf(ev)
			makeStatement()
		})
	}
	for _, a := range h.Acts() {
		add(a.Struck, func() { n.stateStrike(a) })
		add(a.Lifted, func() {
			if f := h.Fault(a.Fault); f.Effect == trace.StallsRequest {
				n.heldBack[f.Target()] = true
			}
		})
	}
	for _, s := range h.Spells() {
		switch {
		case s.RecoveryEvent() == nil:
		case s.State == history.Down:
			add(s.Ended, func() { n.stateRestart(s) })
		case s.State == history.Paused && h.IsClient(s.Process):
			add(s.Ended, func() {
				n.addAfterPending(statement{subject: Subject{Process: s.Process}, predicate: "wakes up", isReturn: true})
			})
		}
	}
	for _, ev := range h.RanOnEvents() {
		add(ev, func() { n.state(ev.Process, "keeps running") })
	}
	for _, c := range h.KeyChanges() {
		add(c.Event, func() { n.noteKeyChange(c) })
	}
	for _, c := range h.Calls() {
		add(c.Began, func() {
			n.latestSection[c.Client] = c.Section
			n.statementsBefore[c.Acquisition] = len(n.statements)
		})
		add(c.Ended, func() {
			if n.parties[c.Acquisition] {
				n.stateStepEnd(c)
			}
			n.acquireReturned[c.Acquisition] = n.acquireReturned[c.Acquisition] || c.Step == trace.Acquire
		})
		for _, ev := range c.Resent {
			add(ev, func() { n.stateResend(c) })
		}
	}
	for _, m := range h.Messages() {
		if m.Held != nil && m.To == trace.StorageName {
			add(m.Arrived, func() { n.heldBack[m.From] = true })
		}
	}
	for _, ev := range h.ServedRequests() {
		if by := (history.Acquisition{Client: ev.Client(), Section: ev.Section}); n.parties[by] && ev.Step == trace.Write {
			add(ev, func() { n.stateWrite(ev, by) })
		}
	}
	for _, s := range h.Sections() {
		if n.parties[s.Acquisition] {
			add(s.Lost, func() { n.state(s.Client, "learns that its lease is lost") })
		}
	}
	return queue
}

// stateStrike states that a fault strikes, and when. The time is left out if the fault
// strikes at the start of the run.
func (n *narrator) stateStrike(a *history.Act) {
	n.flushKeys()
	f := n.history.Fault(a.Fault)
	strikes := strikeStatement(f)
	if f.Effect == trace.KillsProcess && !a.HasEnd && !n.history.IsClient(f.Target()) {
		strikes.predicate += " and stays down"
	}
	if who := n.history.ClientOf(a.Fault); who != "" {
		id := history.Acquisition{Client: who, Section: n.latestSection[who]}
		if n.parties[id] && !n.acquireReturned[id] {
			n.add(statement{subject: Subject{Process: who}, predicate: "asks for the lock"})
		}
	}
	if last := n.latest(); last.verb != "" && f.Trigger.When.Equal(trace.At(trace.Action{Process: last.subject.Process, Verb: last.verb})) {
		strikes.when = "then"
	}
	n.add(strikes)
}

// latest returns the last statement; it is empty if there is none.
func (n *narrator) latest() statement {
	if len(n.statements) == 0 {
		return statement{}
	}
	return n.statements[len(n.statements)-1]
}

// stateRestart states that a server is back, and what it has lost.
func (n *narrator) stateRestart(s *history.Spell) {
	var lost, older []string
	for _, c := range n.history.KeyChanges() {
		if c.Node != s.Process || c.Event.Seq < s.Ended.Seq || c.At > s.Ended.At {
			continue
		}
		switch {
		case c.After == nil && c.Before != nil && c.Before.How == history.Forgotten:
			lost = append(lost, c.Before.Owner.Client)
		case c.After != nil && !c.Touch && c.After.By == nil:
			older = append(older, c.After.Owner.Client)
		}
	}
	keys := func(with string, owners []string) string {
		var all []string
		for _, owner := range owners {
			if key := Possessive(owner) + " key"; owner != "" && !slices.Contains(all, key) {
				all = append(all, key)
			}
		}
		if len(all) == 0 {
			return ""
		}
		return with + List(all)
	}
	does := "is back after " + ProseSpan(s.Ended.At-s.Began.At) + keys(" without ", lost) + keys(" with an older copy of ", older)
	n.addAfterPending(statement{subject: Subject{Process: s.Process}, predicate: does, isReturn: true})
}
