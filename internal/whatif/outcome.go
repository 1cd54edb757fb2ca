package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// An Outcome summarizes the two runs of a variant.
type Outcome struct {
	// Off and On are the verdicts of the run without fencing tokens and of the run with
	// them.
	Off, On string
	// Leases and Sections are the worst outcomes of lease-exclusion and section-exclusion in
	// the two runs.
	Leases, Sections checks.Outcome
	// IsStuck reports that, in one of the runs, the lock was never granted, or progress is
	// violated. Such a run may be safe only because clients did not get their work done.
	IsStuck bool
	// IsImpossible reports that the scenario cannot have the changed value, that no lock can be
	// made with it, or that the run with it has more events than a trace can hold.
	IsImpossible bool
	// IsTooMuch reports that the value is impossible only because the run with it has too many
	// events.
	IsTooMuch bool
}

// isUnknown reports whether a run is inconclusive, or was cut off because too much happened.
func (o Outcome) isUnknown() bool {
	return o.IsTooMuch || !o.IsImpossible && (o.Off == checks.Undecided || o.On == checks.Undecided)
}

// IsFencingIdle reports whether the run with fencing tokens can only be the same as off, the run
// without them. on is the configuration of the run with tokens. IsFencingIdle is meant for the
// field SkipsFencing of [scenarios.RunOptions].
func IsFencingIdle(on sim.Config, off scenarios.RunResult) bool {
	return off.Verdict.Verdict == checks.Safe && len(off.Verdict.Violations()) == 0 && runs.FencingChangesNothing(on, off.History)
}

// outcomeWith returns the outcome of a scenario, which must have one variant, with some
// overrides. It leaves out the run with fencing tokens if that run can only be the same as the
// run without them.
func outcomeWith(s *scenarios.Scenario, o scenarios.RunOptions, overrides ...string) (Outcome, error) {
	o.SkipsFencing = IsFencingIdle
	outcome, _, _, err := runWith(s, o, overrides...)
	return outcome, err
}

// runWith runs a scenario, which must have one variant, with some overrides. If the scenario cannot
// have the values of the overrides, if it does not apply to the lock with them, or if a run is too
// large, there are no results, and why is the reason.
func runWith(s *scenarios.Scenario, o scenarios.RunOptions, overrides ...string) (outcome Outcome, results []scenarios.RunResult, why string, err error) {
	changed, err := s.With(overrides...)
	if err != nil {
		return Outcome{IsImpossible: true}, nil, err.Error(), nil
	}
	results, notApplicable, err := changed.Variants[0].RunBoth(o)
	switch {
	case errors.Is(err, sim.ErrTooMuch), errors.Is(err, sim.ErrTooLarge):
		return Outcome{IsImpossible: true, IsTooMuch: true}, nil, err.Error(), nil // every machine cuts the run off at the same event
	case err != nil && len(overrides) > 0:
		return Outcome{}, nil, "", fmt.Errorf("%s: %w", strings.Join(overrides, " "), err)
	case err != nil:
		return Outcome{}, nil, "", err
	case notApplicable != "":
		return Outcome{IsImpossible: true}, nil, notApplicable, nil
	}
	for _, c := range results[0].History.Trace.Complaints {
		if c.Rule == trace.CannotMake {
			return Outcome{IsImpossible: true}, nil, c.Why, nil
		}
	}
	return outcomeOf(results), results, "", nil
}

// outcomeOf summarizes the runs of a variant. If there is only the run without fencing
// tokens, the run with them is the same.
func outcomeOf(results []scenarios.RunResult) Outcome {
	off, on := results[0], results[len(results)-1]
	worst := func(p checks.Property) checks.Outcome {
		outcomes := []checks.Outcome{off.Verdict.Finding(p).Outcome, on.Verdict.Finding(p).Outcome}
		for _, o := range []checks.Outcome{checks.Violated, checks.Unknown, checks.Holds} {
			if slices.Contains(outcomes, o) {
				return o
			}
		}
		return checks.NotApplicable
	}
	isStuck := func(run scenarios.RunResult) bool {
		return len(run.History.Sections()) == 0 || run.Verdict.Finding(checks.Progress).Outcome == checks.Violated
	}
	return Outcome{
		Off: off.Verdict.Verdict, On: on.Verdict.Verdict,
		Leases: worst(checks.LeaseExclusion), Sections: worst(checks.SectionExclusion),
		IsStuck: slices.ContainsFunc(results, isStuck),
	}
}
