package story

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Paragraph describes one run in a few sentences: which client got the lock, what went
// wrong, which client got the lock meanwhile, and which write was applied when. It leaves
// out clients that did not contribute to the damage, and ends with the damage.
type Paragraph struct {
	history    *history.History
	verdict    *checks.Verdict
	nodes      []string // the nodes that keep a lock
	statements []statement
	// end is the last sentence, which says what broke; "" if the statements already say it.
	end string
}

// A statement is the smallest part of a paragraph, a subject and a predicate: "client-2"
// "gets the lock".
type statement struct {
	subject   Subject
	predicate string
	// verb is the action that the statement describes, if a fault can strike at it.
	verb trace.Verb
	// when is a clause of time that precedes the subject, such as "just before it writes".
	when string
	// fault is the effect of the fault that the statement describes; "" if it describes no
	// fault.
	fault trace.Effect
	// isReturn reports whether the statement says that a process has resumed or restarted
	// after a fault.
	isReturn bool
	// joinsNext puts the statement into one sentence with the statement after it,
	// joinsPrevious with the statement before it.
	joinsNext, joinsPrevious bool
}

// NewParagraph describes a run from its history and the verdict on it.
func NewParagraph(h *history.History, v *checks.Verdict) *Paragraph {
	p := &Paragraph{history: h, verdict: v, nodes: h.Keepers()}
	p.narrate()
	p.end = p.ending()
	return p
}

// NewFaultsParagraph describes a run that left no trace, because the lock panicked, hung or
// did worse; conduct is the rule that it broke. Only the run's faults are known.
func NewFaultsParagraph(faults []trace.FaultInfo, conduct string) *Paragraph {
	struckBy := &trace.Trace{Faults: faults, Ending: &trace.Ending{Rule: conduct}}
	var statements []statement
	for _, f := range faults {
		statements = append(statements, strikeStatement(f))
		for _, name := range slices.Concat(f.Targets...) {
			if name != trace.StorageName {
				struckBy.Processes = append(struckBy.Processes, trace.ProcessInfo{Name: name})
			}
		}
	}
	return &Paragraph{history: history.New(struckBy), statements: statements}
}

// strikeStatement returns the statement that a fault strikes.
func strikeStatement(f trace.FaultInfo) statement {
	on, does := FaultClause(f)
	return statement{subject: on, predicate: does, when: When(f.Trigger, on.Itself()), fault: f.Effect}
}

// event returns the event with the given Seq.
func (p *Paragraph) event(seq int) *trace.Event { return p.history.Event(seq) }

// violation returns the finding on a property, and whether the property is violated.
func (p *Paragraph) violation(property checks.Property) (f checks.Finding, isViolated bool) {
	f = p.verdict.Finding(property)
	return f, f.Outcome == checks.Violated
}
