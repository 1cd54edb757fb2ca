package scenarios

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// Judge returns the result of a run from its trace: what the checks find in it, and how
// that differs from what the variant expects. lock is the kind of lock that the run used,
// and fencing is [Off] or [On]. A trace that was read from a file must be validated before;
// see [trace.Trace.Validate].
func (v *Variant) Judge(t *trace.Trace, lock, fencing string) RunResult {
	past := history.New(t)
	run := RunResult{
		Variant: v, Lock: lock, Fencing: fencing, History: past,
		Verdict: checks.Check(past, v.WitnessesIn(t)), Measures: checks.Measures(past), Represents: v.represents(t),
	}
	if t.Ending == nil {
		withholdFindings(run.Verdict)
	}
	if e, ok := v.Expectation(lock, fencing); ok {
		run.Expected = &e
		_, run.Differences = e.compare(run.Verdict)
	} else if _, isRegistered := locks.Lookup(lock); isRegistered && (len(v.overrides) > 0 || lock != v.Lock && len(run.Verdict.Witnesses) == 0) {
		// If a lock other than the scenario's own is granted to no client, this may be what the
		// author expects of it, but only witnesses can show that.
		run.Verdict.DoubtIfIdle(past)
	}
	return run
}

// withholdFindings makes the violations of an inconclusive run unknown, because such a run is not
// what the scenario is about. For example, a run that is cut off while a client waits for a moment
// that never comes says nothing about progress. Misconduct, and violations that count in any case,
// stay.
func withholdFindings(v *checks.Verdict) {
	if len(v.Reasons) == 0 {
		return
	}
	for i, f := range v.Findings {
		if f.Outcome == checks.Violated && !f.IsConclusive && f.Property.Card().Subject != checks.SubjectMisconduct {
			v.Findings[i] = checks.Finding{Property: f.Property, Outcome: checks.Unknown, Reason: v.Reasons[0]}
		}
	}
}

// Witnesses returns the preconditions that must have been observed for the run's verdict to
// mean anything, with the names that the nodes have in this run.
func (o RunResult) Witnesses() []trace.Witness { return o.Variant.WitnessesIn(o.History.Trace) }

// NewResult returns the result of some runs of a scenario. The runs must be in the order of
// [Result.Runs]. lock is the kind of lock that the caller asked for.
func NewResult(s *Scenario, lock string, seed uint64, runs []RunResult) *Result {
	r := &Result{Scenario: s, Lock: lock, Seed: seed, Runs: runs}
	expectsNothing := func(run RunResult) bool { return run.Expected == nil }
	differs := func(run RunResult) bool { return len(run.Differences) > 0 }
	if asExpected := !slices.ContainsFunc(runs, differs); !asExpected || !slices.ContainsFunc(runs, expectsNothing) {
		r.AsExpected = &asExpected
	}
	return r
}

// SelectRuns returns the result of one variant, or only of its run with fencing [Off] or
// [On]. An empty argument selects all variants, or both runs. It fails if nothing is
// selected.
func (r *Result) SelectRuns(variant, fencing string) (*Result, error) {
	s := r.Scenario
	if variant != "" {
		var err error
		if s, err = s.SelectVariant(variant); err != nil {
			return nil, err
		}
	}
	var runs []RunResult
	for _, run := range r.Runs {
		if slices.Contains(s.Variants, run.Variant) && (fencing == "" || fencing == run.Fencing) {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s has no run with fencing %s", s.Name, fencing)
	}
	return NewResult(s, r.Lock, r.Seed, runs), nil
}
