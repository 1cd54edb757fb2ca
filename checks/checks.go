// Package checks reads the trace of a run and says which properties hold.
//
// The words are these. A lease runs from "acquire returned" to the end that the
// lock itself declared, on the client's own clock and mapped to true time. If the
// lock declares none, it lasts one TTL from the call of acquire or extend, and
// without a TTL for ever; that of a lock which prolongs it by itself, and is to tell
// of its loss, lasts until its keys have stood on a quorum for their TTL since they
// were last set or prolonged. Its loss signal, releasing or crashing ends it; a
// successful extend prolongs the same lease from its beginning, without a gap. By the
// end of a lease its lock owes the signal, if it is one that tells.
// A section runs from "acquire returned" to release called, crash, or
// abandoned. Each belongs to one handle on the lock. A process may have several
// handles, and it is all the same whether two leases or two sections are two
// clients' or two handles' of one client: where the one is told of two clients
// below, the other is meant too.
//
// Intervals are half-open and compared in whole nanoseconds of true time; where
// two events share a nanosecond, their order in the trace decides. Everything is
// judged for each lock name by itself.
//
// A verdict is computed from the trace alone, so a stored trace can be judged
// again later. So are the measures: what a run cost, and how long people waited.
package checks

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Property names one of the properties that a run can have.
type Property string

// Outcome says whether a property holds.
type Outcome string

const (
	Holds    Outcome = "holds"
	Violated Outcome = "violated"
	// Unknown is a property of which the run proves nothing. It is never a pass.
	Unknown Outcome = "unknown"
	// NotApplicable is a property that the run has nothing to say about.
	NotApplicable Outcome = "n/a"
)

// The verdicts on a whole run.
const (
	// Safe is a run in which all data properties hold.
	Safe = "safe"
	// Unsafe is a run in which a data property is violated.
	Unsafe = "unsafe"
	// Undecided is every other run.
	Undecided = "unknown"
)

// A Finding is what a run says of one property.
type Finding struct {
	Property Property
	Outcome  Outcome
	// Reason is, for unknown and n/a, why; for violated one sentence that says
	// who did what and when. On a property that holds it is empty or qualifies
	// how it was checked.
	Reason Reason
	// At is the Seq of the event with which a violated property broke.
	At int
	// Events are the Seqs of the few events that show the violation, in order.
	Events []int
	// Fault says whose fault a violation is where that can be told. It is zero
	// otherwise.
	Fault Blame
	// Firm says of a violation of [Progress] that a story which has not come about does not
	// explain it: an acquire waits for a grant that nobody uses, or a client's program says so.
	Firm bool
	// Cycle tells the shortest cycle of dependencies that violates
	// serial-sections, one dependency in words each.
	Cycle []Reason
}

// Counts reports whether the finding is a violation that counts: a scenario has to expect it,
// and a search and a suite report it. A violation of a [Card.ReportOnly] property
// counts only if it is the lock's fault. The run's own report shows each.
func (f Finding) Counts() bool {
	return f.Outcome == Violated && (!f.Property.Card().ReportOnly || f.Fault == FaultLock)
}

// A WitnessResult is one witness of a scenario, and whether it was seen.
type WitnessResult struct {
	Text string
	Seen bool
}

// A TornSection is a section of which only a part took effect: it was cut short
// after a write, or some of its writes were applied and others not. It is
// reported because somebody has to clean up after it; it violates nothing.
type TornSection struct {
	Client  string
	Section int
	Reason  Reason
}

// A Verdict is what a run says of all properties.
type Verdict struct {
	// Verdict is Unsafe when a data property is violated, Safe when all of them
	// hold, and otherwise Undecided. It is Undecided too when the run proves
	// nothing; see Reasons.
	Verdict string
	// Reasons say why the run proves nothing: a witness was not seen, the trace
	// has doubts of its own, a fault did not act, or the two checkers of the
	// storage's history disagree. No property of such a run is said to hold.
	Reasons []Reason
	// Findings has one entry for each property that is judged of such a run, in the order
	// of [Properties]. Only of a run with a schedule [OncePerPeriod] is, and of misconduct
	// there is an entry only for what is violated.
	Findings  []Finding
	Witnesses []WitnessResult
	Torn      []TornSection
	// Missed are the periods of the schedule for which nobody had an effect.
	Missed []MissedPeriod
	// Repeated are those for which a job was run in vain, since it had been run.
	Repeated []RepeatedPeriod
	// RanOn says that a paused process started something all the same, as code
	// that is not written on the simulated clock can. What it took part in is
	// not held against the lock.
	RanOn bool
}

// Finding returns the finding on one property. One that such a run is not judged by does
// not apply.
func (v *Verdict) Finding(p Property) Finding {
	for _, f := range v.Findings {
		if f.Property == p {
			return f
		}
	}
	f := notApplicable(noSchedule.Reason())
	switch {
	case p.Card().Of == OfMisconduct:
		f.Reason = noMisconduct.Reason()
	case p != OncePerPeriod:
		panic(fmt.Sprintf("checks: no property is called %q", p))
	}
	f.Property = p
	return f
}

// judges reports whether the verdict says something of a property.
func (v *Verdict) judges(p Property) bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Property == p })
}

// Violations are the findings on what is violated, the worst first, apart from those that
// are only reported.
func (v *Verdict) Violations() []Finding {
	all := slices.DeleteFunc(slices.Clone(v.Findings), func(f Finding) bool { return !f.Counts() })
	slices.SortStableFunc(all, func(a, b Finding) int { return a.Property.Card().Gravity - b.Property.Card().Gravity })
	return all
}

// Gravest is the worst property that is violated; "" if none is.
func (v *Verdict) Gravest() Property {
	if all := v.Violations(); len(all) > 0 {
		return all[0].Property
	}
	return ""
}

// Check judges a run. A witness that was not seen, a fault that did not act, a
// doubt that the trace itself has, or a disagreement between the two checkers of
// the storage's history makes the verdict unknown: what holds becomes unknown,
// what is violated stays violated.
func Check(of *history.History, witnesses []trace.Witness) *Verdict {
	h := &inquiry{of}
	t := h.Trace
	v := &Verdict{Torn: h.torn(), RanOn: h.AnyRanOn(), Findings: make([]Finding, 0, len(properties))}
	if t.Schedule != nil {
		v.Missed, v.Repeated = h.missed(), h.repeated()
	}
	for _, p := range properties {
		if p.concerns != nil && !p.concerns(h) {
			continue
		}
		if f := h.find(p); p.Of != OfMisconduct || f.Outcome == Violated {
			v.Findings = append(v.Findings, f)
		}
	}
	for _, w := range witnesses {
		r := WitnessResult{Text: w.String(), Seen: history.Seen(w, t)}
		v.Witnesses = append(v.Witnesses, r)
		if !r.Seen {
			v.Reasons = append(v.Reasons, witnessUnseen.Reason(r.Text))
		}
	}
	for _, doubt := range t.Doubts {
		v.Reasons = append(v.Reasons, InDoubt.Reason(doubt))
	}
	if t.Ending != nil {
		v.Reasons = append(v.Reasons, endedEarly.Reason(t.Ending.Why))
	}
	for i, f := range t.Faults {
		if f.Idle != "" {
			v.Reasons = append(v.Reasons, faultIdle.Reason(i+1, f.Text, f.Idle))
		}
	}
	v.compare(linearize(h.DataSections()))
	v.settle()
	return v
}

// find judges a property. What a client's code did to the run and what its program says of the
// lock count where the property's own rule does not blame it.
func (h *inquiry) find(p property) Finding {
	f := holds()
	if panicked := h.Trace.Ending != nil && h.Trace.Ending.Rule == trace.ConductPanic; p.Of != OfMisconduct || !panicked {
		f = p.judge(h) // of a lock that panics no conduct can be expected
	}
	if f.Fault != FaultLock {
		if e := h.ended(p.Property); e.Outcome == Violated {
			f = e
		} else if c := h.complained(p.Property); c.Outcome == Violated {
			f = c
		}
	}
	if last := h.Last(); f.Outcome == Violated && f.At == 0 && last != nil {
		f.At = last.Seq // what is no single event's is known in the end
	}
	f.Property = p.Property
	return f
}

// compare sets the verdict on serial-sections against porcupine's.
func (v *Verdict) compare(second opinion) {
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Property != SerialSections {
			continue
		}
		if reason := disagreement(f.Outcome, second); !reason.IsZero() {
			v.Reasons = append(v.Reasons, reason)
		}
		if second == notSearched && f.Outcome == Holds {
			f.Reason = notCrossChecked.Reason()
		}
	}
}

// settle draws the verdict from the findings and from the reasons to doubt
// them.
func (v *Verdict) settle() {
	v.Verdict = Safe
	for i := range v.Findings {
		f := &v.Findings[i]
		if len(v.Reasons) > 0 && f.Outcome == Holds {
			f.Outcome, f.Reason = Unknown, v.Reasons[0]
		}
		switch {
		case !f.Property.Data(), f.Outcome == NotApplicable:
		case f.Outcome == Violated:
			v.Verdict = Unsafe
		case f.Outcome != Holds && v.Verdict == Safe:
			v.Verdict = Undecided
		}
	}
	if len(v.Reasons) > 0 {
		v.Verdict = Undecided
	}
}
