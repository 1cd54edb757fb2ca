// Package checks judges, from the trace of a run, which properties hold.
//
// A lease is the time during which a lock says that a client holds it, and a section is one
// critical section of a client. Package history defines both terms exactly. A process may have
// several handles on a lock, and each lease and each section belongs to one handle. Wherever a
// comment below speaks of two clients, it also means two handles of one client.
//
// Intervals are half-open and compared in whole nanoseconds of true time. Where two events
// share a nanosecond, their order in the trace decides. Locks with different names are
// judged separately.
//
// A verdict is computed from the trace alone, so a stored trace can be judged again later.
// The same holds for measures: what a run cost, and how long clients waited.
package checks

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Property is the name of a property that a run can have.
type Property string

// An Outcome says whether a property holds.
type Outcome string

const (
	Holds    Outcome = "holds"
	Violated Outcome = "violated"
	// Unknown: the run proves nothing about the property. It never counts as passed.
	Unknown Outcome = "unknown"
	// NotApplicable: the property does not apply to the run.
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

// A Finding is the judgement of one property of a run.
type Finding struct {
	Property Property
	Outcome  Outcome
	// Reason is why the outcome is unknown or n/a. For a violation it says who did what and
	// when. For a property that holds it is empty, or qualifies how it was checked.
	Reason Reason
	// At is the Seq (the number, from 1) of the event that violated the property.
	At int
	// Events are the Seqs of the few events that show the violation, in order.
	Events []int
	// Blame says whose fault a violation is; zero if that is not known.
	Blame Blame
	// IsConclusive says that the violation counts even if preconditions of the scenario were not
	// met, because the lock itself is the cause: an acquire waits for a grant that no client uses,
	// or a client's program complains about the lock.
	IsConclusive bool
	// Cycle is the shortest cycle of dependencies that violates serial-sections, one reason
	// for each dependency.
	Cycle []Reason
}

// Counts reports whether the finding is a violation that counts. A scenario has to expect
// such a violation, and a search and a suite report it. A violation of a [Card.ReportOnly]
// property counts only if it is the lock's fault. The report of the run itself shows all
// violations.
func (f Finding) Counts() bool {
	return f.Outcome == Violated && (!f.Property.Card().ReportOnly || f.Blame == BlameLock)
}

// A WitnessResult says whether one witness of a scenario was seen. A witness is what must happen if
// the run is to say anything about the lock, such as "client-2 acquired after client-1 paused".
type WitnessResult struct {
	Text string
	Seen bool
}

// A TornSection is a section of which only a part took effect: it was cut short after a write, or
// only some of its writes were applied. It violates no property, but is reported because somebody
// has to repair the data afterwards.
type TornSection struct {
	Client  string
	Section int
	Reason  Reason
}

// A Verdict is the judgement of all properties of a run.
type Verdict struct {
	// Verdict is Unsafe if a data property is violated, Safe if all of them hold, and
	// otherwise Undecided. It is also Undecided if the run proves nothing; see Reasons.
	Verdict string
	// Reasons say why the run proves nothing: a witness (see [WitnessResult]) was not seen; the
	// trace contains doubts about the run; a fault did not act; or nothing was at stake (see
	// [Verdict.DoubtIfIdle]). Another reason is that the two checkers of the storage's history,
	// [SerialSections] and porcupine, disagree. No property of such a run has the outcome Holds.
	Reasons []Reason
	// Findings has one entry for each property by which the run is judged, in the order of
	// [Properties]. [OncePerPeriod] has an entry only in a run with a schedule. Properties
	// of misconduct have an entry only if they are violated.
	Findings  []Finding
	Witnesses []WitnessResult
	Torn      []TornSection
	// Missed are the periods of the schedule for which no section ran the job.
	Missed []MissedPeriod
	// Repeated are the periods for which a job was run again, in vain.
	Repeated []RepeatedPeriod
	// RanOn says that a paused process did something although it was paused. Code that does not use
	// the simulated clock can run during a pause. The lock is not blamed for anything that this
	// process took part in.
	RanOn bool
}

// Finding returns the finding on one property. If the run was not judged by the property,
// the outcome is [NotApplicable]. It panics if there is no such property.
func (v *Verdict) Finding(p Property) Finding {
	for _, f := range v.Findings {
		if f.Property == p {
			return f
		}
	}
	f := notApplicable(noSchedule.Reason())
	switch {
	case p.Card().Subject == SubjectMisconduct:
		f.Reason = noMisconduct.Reason()
	case p != OncePerPeriod:
		panic(fmt.Sprintf("checks: no property is called %q", p))
	}
	f.Property = p
	return f
}

// covers reports whether the verdict has a finding on a property.
func (v *Verdict) covers(p Property) bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Property == p })
}

// Violations returns the findings of violations that count, the worst first; see
// [Finding.Counts].
func (v *Verdict) Violations() []Finding {
	all := slices.DeleteFunc(slices.Clone(v.Findings), func(f Finding) bool { return !f.Counts() })
	slices.SortStableFunc(all, func(a, b Finding) int { return a.Property.Card().Gravity - b.Property.Card().Gravity })
	return all
}

// Gravest returns the worst property that is violated; "" if none is.
func (v *Verdict) Gravest() Property {
	if all := v.Violations(); len(all) > 0 {
		return all[0].Property
	}
	return ""
}

// Caveats returns the violated properties that readers should know about although the run is safe;
// nil if the run is not safe. It returns only properties with the subject [SubjectConduct] whose
// violations count (see [Finding.Counts]).
func (v *Verdict) Caveats() []Property {
	if v.Verdict != Safe {
		return nil
	}
	return slices.DeleteFunc(PropertiesOf(SubjectConduct), func(p Property) bool { return !v.Finding(p).Counts() })
}

// Check judges a run. The verdict is unknown if a witness was not seen, a fault did not act, the
// trace contains doubts about the run, or the two checkers of the storage's history disagree. Then
// properties that hold become unknown, and violated properties stay violated. In an unscripted run,
// a fault that did not act leaves no doubt, unless the fault does not apply to that run.
func Check(runHistory *history.History, witnesses []trace.Witness) *Verdict {
	h := &judgedRun{runHistory}
	t := h.Trace
	v := &Verdict{Torn: h.torn(), RanOn: h.AnyRanOn(), Findings: make([]Finding, 0, len(properties))}
	if t.Schedule != nil {
		v.Missed, v.Repeated = h.missedPeriods(), h.repeatedPeriods()
	}
	for _, p := range properties {
		if p.appliesTo != nil && !p.appliesTo(h) {
			continue
		}
		if f := h.judgeProperty(p); p.Subject != SubjectMisconduct || f.Outcome == Violated {
			v.Findings = append(v.Findings, f)
		}
	}
	for _, w := range witnesses {
		r := WitnessResult{Text: w.String(), Seen: history.WasSeen(w, t)}
		v.Witnesses = append(v.Witnesses, r)
		if !r.Seen {
			v.Reasons = append(v.Reasons, witnessUnseen.Reason(r.Text))
		}
	}
	for _, doubt := range t.Doubts {
		v.Reasons = append(v.Reasons, InDoubt.Reason(doubt))
	}
	switch {
	case h.isEndedByProgram():
		v.Reasons = append(v.Reasons, endedByProgram.Reason(t.Ending.Why))
	case t.Ending != nil:
		v.Reasons = append(v.Reasons, endedEarly.Reason(t.Ending.Why))
	}
	for i, f := range t.Faults {
		if f.IdleReason != "" && (!t.Unscripted || f.NotApplicable) {
			v.Reasons = append(v.Reasons, faultIdle.Reason(i+1, f.Text, f.IdleReason))
		}
	}
	v.judgeCutOff(h.cutOff())
	v.crossCheck(linearize(h.DataSections()))
	v.decide()
	return v
}

// judgeProperty judges a run by one property. If the property's own judge does not blame
// the lock, two other things can show a violation: the way in which a client's code ended
// the run, and a complaint of a client's program.
func (h *judgedRun) judgeProperty(p property) Finding {
	f := holds()
	if panicked := h.Trace.Ending != nil && h.Trace.Ending.Rule == trace.ConductPanic; p.Subject != SubjectMisconduct || !panicked {
		f = p.judge(h) // a lock that panics is not judged for other misconduct
	}
	if f.Blame != BlameLock {
		if e := h.endingFinding(p.Property); e.Outcome == Violated {
			f = e
		} else if c := h.complaintFinding(p.Property); c.Outcome == Violated {
			f = c
		}
	}
	if last := h.Last(); f.Outcome == Violated && f.At == 0 && last != nil {
		f.At = last.Seq // a violation that no single event shows is known only at the end of the run
	}
	f.Property = p.Property
	return f
}

// crossCheck compares the finding on serial-sections with the result of porcupine, an
// independent checker for linearizability.
func (v *Verdict) crossCheck(porcupines porcupineResult) {
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Property != SerialSections {
			continue
		}
		if reason := disagreement(f.Outcome, porcupines); !reason.IsZero() {
			v.Reasons = append(v.Reasons, reason)
		}
		if porcupines == notSearched && f.Outcome == Holds {
			f.Reason = notCrossChecked.Reason()
		}
	}
}

// decide sets the verdict from the findings and from the reasons to doubt them.
func (v *Verdict) decide() {
	v.Verdict = Safe
	for i := range v.Findings {
		f := &v.Findings[i]
		if len(v.Reasons) > 0 && f.Outcome == Holds {
			f.Outcome, f.Reason = Unknown, v.Reasons[0]
		}
		switch {
		case !f.Property.IsData(), f.Outcome == NotApplicable:
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
