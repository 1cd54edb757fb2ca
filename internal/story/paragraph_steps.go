package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// stateStepEnd states the result of a client's step.
func (n *narrator) stateStepEnd(c *history.Call) {
	ev := c.Ended
	switch {
	case ev.Step == trace.Acquire && ev.OK && ev.Ungranted && len(n.history.Slots(ev.Lock)) > 0:
		n.state(ev.Process, "enters its section although no node has granted it %s", n.theLock(c.Acquisition))
	case ev.Step == trace.Acquire && ev.OK:
		n.addAfterPending(statement{
			subject: Subject{Process: ev.Process}, verb: trace.Acquired,
			predicate: "gets " + n.theLock(c.Acquisition) + n.describeNodes(n.nodesWithKey(c.Acquisition)), when: n.intrusion(ev),
		})
	case ev.Step == trace.Acquire:
		if n.verdict.Gravest() != checks.Progress { // otherwise the last sentence describes all attempts
			n.state(ev.Process, "fails to get %s", n.theLock(c.Acquisition))
		}
	case ev.Step == trace.Read && ev.OK:
		n.stateAction(ev.Process, trace.HasRead, "reads")
	case ev.Step == trace.Extend && !ev.OK:
		n.state(ev.Process, "fails to extend its lease")
	case ev.Step == trace.Extend && n.isEvidence(ev.Seq):
		n.state(ev.Process, "extends its lease")
	case ev.Step == trace.Release && c.Failed() && !history.NotHeld(c):
		n.stateAction(ev.Process, trace.Released, "fails to release "+n.theLock(c.Acquisition))
	case ev.Step == trace.Release:
		does := "releases"
		if n.history.HasNested() {
			does += " " + n.theLock(c.Acquisition)
		}
		n.stateAction(ev.Process, trace.Released, does)
	case ev.Step.AtStorage() && !ev.OK && !ev.Refused:
		n.state(ev.Process, "gives up on its %s", ev.Step)
	}
}

// theLock names the lock of an acquisition if clients hold several at the same time;
// otherwise it is "the lock".
func (n *narrator) theLock(id history.Acquisition) string {
	for _, c := range n.history.CallsOf(id) {
		if c.Step == trace.Acquire && n.history.HasNested() {
			return "the lock " + c.Lock
		}
	}
	return "the lock"
}

// stateResend states, once for each acquisition, that a client sends its write again.
func (n *narrator) stateResend(c *history.Call) {
	if n.parties[c.Acquisition] && c.Step == trace.Write && !n.hasResent[c.Acquisition] {
		n.state(c.Client, "gets no answer")
		n.state(c.Client, "sends its write again")
		n.hasResent[c.Acquisition] = true
	}
}

// stateWrite states what the storage did with a write of the acquisition writer, and what the
// write damaged.
func (n *narrator) stateWrite(ev *trace.Event, writer history.Acquisition) {
	n.flushKeys()
	wasHeldBack := n.heldBack[writer.Client]
	delete(n.heldBack, writer.Client)
	damage := n.damageBy(ev)
	isLate := wasHeldBack || len(n.statements) > n.statementsBefore[writer] && (damage != "" || !n.hasResent[writer])
	write := Subject{Process: writer.Client, Thing: "write"}
	if wasHeldBack && n.hasResent[writer] {
		write.Thing = "first request"
	}
	switch {
	case !ev.OK:
		n.state(trace.StorageName, "refuses %s", write)
	case isLate:
		n.addAfterPending(statement{subject: write, predicate: strings.TrimSpace("lands " + damage)})
	case !n.hasResent[writer]:
		n.stateAction(writer.Client, trace.Wrote, strings.TrimSpace("writes "+damage))
	}
}

// isEvidence reports whether an event is evidence of one of the violations.
func (p *Paragraph) isEvidence(seq int) bool {
	return slices.ContainsFunc(p.verdict.Violations(), func(f checks.Finding) bool { return f.At == seq || slices.Contains(f.Events, seq) })
}

// damageBy says what a write damaged; "" if this write did not violate a property.
func (p *Paragraph) damageBy(ev *trace.Event) string {
	broke := func(property checks.Property) (checks.Finding, bool) {
		f, isViolated := p.violation(property)
		return f, isViolated && f.At == ev.Seq
	}
	if f, ok := broke(checks.NoLostUpdate); ok && p.staleWrite(f) != nil {
		if len(f.Events) == 2 {
			return fmt.Sprintf("over %s update, which is lost", ofOther(ev, p.event(f.Events[0])))
		}
		return "on the basis of an old version"
	}
	if f, ok := broke(checks.WriteOrder); ok {
		return fmt.Sprintf("over that of %s, whose grant is newer", p.event(f.Events[0]).Client())
	}
	if f, ok := broke(checks.GrantOrder); ok {
		return fmt.Sprintf("although %s already holds the lock", p.event(f.Events[0]).Process)
	}
	return ""
}

// ofOther returns a possessive for the write called earlier, which the write called write replaced:
// "client-2's", "its own newer" or "its own".
func ofOther(write, earlier *trace.Event) string {
	switch {
	case earlier.Client() != write.Client():
		return Possessive(earlier.Client())
	case earlier.Section == write.Section:
		return "its own newer"
	}
	return "its own"
}

// staleWrite returns the write that replaced an update without having read it; nil if the
// update was lost in another way.
func (p *Paragraph) staleWrite(f checks.Finding) *trace.Event {
	if ev := p.event(f.At); ev.Kind == trace.KindServe && ev.Step == trace.Write && slices.Contains(f.Events, f.At) && len(f.Events) < 3 {
		return ev
	}
	return nil
}

// intrusion says that a grant was given during another client's lease or critical section; "" if
// this grant does not violate mutual exclusion.
func (p *Paragraph) intrusion(ev *trace.Event) string {
	for _, property := range []checks.Property{checks.LeaseExclusion, checks.SectionExclusion} {
		f, isViolated := p.violation(property)
		if !isViolated || len(f.Events) != 2 || f.Events[1] != ev.Seq {
			continue
		}
		holder := p.event(f.Events[0]).Process
		switch {
		case property == checks.LeaseExclusion:
			return fmt.Sprintf("although %s lease has not ended", Possessive(holder))
		case p.verdict.Gravest().Card().Gravity > checks.GrantOrder.Card().Gravity:
			return fmt.Sprintf("while %s is still in its section", holder)
		}
	}
	return ""
}

// describeNodes says on which nodes a lock is held; "" if it is held on all nodes or there
// is only one.
func (p *Paragraph) describeNodes(nodes []string) string {
	nodes = p.history.InWorldOrder(nodes)
	if len(p.nodes) < 2 || len(nodes) == len(p.nodes) || len(nodes) == 0 {
		return ""
	}
	return " on " + List(nodes)
}
