package story

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Paragraph is what happened in one run, as people would tell it: who got the lock, what
// went wrong, who got in meanwhile and whose write landed when. It leaves out whoever has no
// part in what broke, and ends with what that was.
type Paragraph struct {
	history *history.History
	verdict *checks.Verdict
	nodes   []string // those on which a lock is kept
	told    []statement
	// end is the last sentence, if what has been told does not say what broke.
	end string
}

// A statement is the smallest part of a paragraph: "client-2" "gets the lock".
type statement struct {
	subject Subject
	does    string
	// verb is what it says that a client has done, if that is something at which a fault
	// can strike.
	verb trace.Verb
	// when is a clause that goes before it, such as just before its write.
	when string
	// fault is the effect of the fault that it tells of, if it does.
	fault trace.Effect
	// returns says that a process is back.
	returns bool
	// leads says that it goes into one sentence with what comes next, and follows with
	// what came before.
	leads, follows bool
}

// Tell tells a run.
func Tell(h *history.History, v *checks.Verdict) *Paragraph {
	p := &Paragraph{history: h, verdict: v, nodes: h.Keepers()}
	p.narrate()
	p.end = p.ending()
	return p
}

// TellFaults tells of a run that left no trace, for what the lock did in it, by its faults
// alone.
func TellFaults(faults []trace.FaultInfo, conduct string) *Paragraph {
	struckBy := &trace.Trace{Faults: faults, Ending: &trace.Ending{Rule: conduct}}
	var told []statement
	for _, f := range faults {
		told = append(told, struck(f))
		for _, name := range slices.Concat(f.Targets...) {
			if name != trace.StorageName {
				struckBy.Processes = append(struckBy.Processes, trace.ProcessInfo{Name: name})
			}
		}
	}
	return &Paragraph{history: history.Of(struckBy), told: told}
}

// struck states that a fault strikes.
func struck(f trace.FaultInfo) statement {
	on, does := FaultClause(f)
	return statement{subject: on, does: does, when: When(f.Strikes, on.Itself()), fault: f.Effect}
}

// at is the event of a Seq.
func (p *Paragraph) at(seq int) *trace.Event { return p.history.Event(seq) }

// violated is the finding on a property, and whether it is violated.
func (p *Paragraph) violated(property checks.Property) (f checks.Finding, is bool) {
	f = p.verdict.Finding(property)
	return f, f.Outcome == checks.Violated
}
