package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
)

// An Expectation is the result that a scenario expects of a run.
type Expectation struct {
	// Verdict is safe or unsafe; a scenario never expects unknown.
	Verdict string
	// Violated are all properties that must be violated.
	Violated []checks.Property
	// Missed are the periods of the schedule for which the job must not have been run.
	Missed []int
}

// Expectation returns what the scenario expects of a kind of lock, in the run with fencing
// [Off] or [On]; false if it expects nothing. An empty lock means the scenario's own.
func (v *Variant) Expectation(lock, fencing string) (Expectation, bool) {
	if len(v.overrides) > 0 {
		return Expectation{}, false
	}
	es := v.spec.Expect
	if lock != "" && lock != v.Lock {
		es, _ = v.spec.ExpectWith.get(lock)
	}
	e := es.Off
	if fencing == On {
		e = es.On
	}
	if e == nil {
		return Expectation{}, false
	}
	out := Expectation{Verdict: string(e.Verdict), Missed: e.Missed}
	for _, p := range e.Violated {
		out.Violated = append(out.Violated, checks.Property(p))
	}
	return out, true
}

// compare reports whether a run had the expected result, and returns the differences. Every
// property in Violated must be violated. Every other property must hold or not apply; an
// unknown property is a difference. There is one exception: a property that is only reported
// (see [checks.Card]) and not in Violated can also be unknown, or violated without being the
// lock's fault. That is no difference.
func (e Expectation) compare(v *checks.Verdict) (ok bool, differences []checks.Reason) {
	if v.Verdict != e.Verdict {
		differences = append(differences, checks.VerdictDiffers.Reason(v.Verdict, e.Verdict))
	}
	for _, f := range v.Findings {
		isExpected, difference := f.Outcome == checks.Holds || f.Outcome == checks.NotApplicable, checks.NotHeld.Reason(f.Property, f.Outcome)
		switch {
		case !slices.Contains(e.Violated, f.Property):
			isExpected = isExpected || f.Property.Card().ReportOnly && !f.Counts()
		case f.Outcome == checks.Holds:
			isExpected, difference = false, checks.PropertyHolds.Reason(f.Property)
		default:
			isExpected, difference = f.Outcome == checks.Violated, checks.NotViolated.Reason(f.Property, f.Outcome)
		}
		if isExpected {
			continue
		}
		if !f.Reason.IsZero() {
			difference = difference.And(checks.AsStated.Reason(f.Reason))
		}
		differences = append(differences, difference)
	}
	for _, p := range e.Violated {
		if f := v.Finding(p); !slices.Contains(checks.JudgedProperties(v), p) {
			differences = append(differences, checks.NotViolated.Reason(p, f.Outcome).And(checks.AsStated.Reason(f.Reason)))
		}
	}
	for _, m := range v.Missed {
		if !slices.Contains(e.Missed, m.Period) {
			differences = append(differences, checks.MissedUnexpected.Reason(m.Reason))
		}
	}
	for _, period := range e.Missed {
		if !slices.ContainsFunc(v.Missed, func(m checks.MissedPeriod) bool { return m.Period == period }) {
			differences = append(differences, checks.NotMissed.Reason(period))
		}
	}
	return len(differences) == 0, differences
}

// checkExpectations reports contradictions in the expected results.
func (d *draft) checkExpectations() {
	d.checkExpectation("expect", d.spec.Expect)
	if d.isWritten("expect.witnesses") {
		d.reportAt("expect.witnesses", "these are the scenario's own witnesses", "write them under witnesses; only expect-with can have witnesses for another lock")
	}
	for _, e := range d.spec.ExpectWith {
		path := joinPath("expect-with", e.name)
		switch {
		case !slices.Contains(lockKind("").words(), e.name):
			d.reportAt(path, "no lock is called %s", DidYouMean(e.name, lockKind("").words()), quote(e.name))
		case e.name == string(d.spec.Lock.Kind):
			d.reportAt(path, "%s is the scenario's own lock", "write what you expect of it under expect", e.name)
		}
		d.checkExpectation(path, e.value)
		for i, w := range e.value.Witnesses {
			d.checkCondition(fmt.Sprintf("%s.witnesses[%d]", path, i+1), w)
		}
	}
}

// checkExpectation checks the expectations of both runs.
func (d *draft) checkExpectation(path string, es expectations) {
	d.checkRunExpectation(path+".off", es.Off)
	d.checkRunExpectation(path+".on", es.On)
}

// checkRunExpectation reports an expected verdict that contradicts the list of expected
// violations.
func (d *draft) checkRunExpectation(path string, e *expectation) {
	if e == nil {
		return
	}
	d.requireField(path + ".verdict")
	for i, period := range e.Missed {
		if n := d.spec.schedule().Periods; period < 1 || period > n {
			d.reportAt(fmt.Sprintf("%s.missed[%d]", path, i+1), "there is no period %d", fmt.Sprintf("the schedule has %d", n), period)
		}
	}
	data := slices.IndexFunc(e.Violated, func(p property) bool { return checks.Property(p).IsData() })
	switch {
	case e.Verdict == checks.Safe && data >= 0:
		d.reportAt(fmt.Sprintf("%s.violated[%d]", path, data+1), "a run that violates %s is unsafe", "change the verdict or the list", e.Violated[data])
	case e.Verdict == checks.Unsafe && data < 0 && !slices.Contains(e.Violated, ""):
		d.reportAt(path+".verdict", "an unsafe run violates a property of the data", "list which: "+strings.Join(toStrings(checks.PropertiesOf(checks.SubjectData)...), ", "))
	}
}
