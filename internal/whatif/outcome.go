package whatif

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
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
	// IsImpossible reports that the scenario cannot have the value, or that too much happens
	// with it.
	IsImpossible bool
}

// runWith runs the variant of a scenario, which must have one, with an override. If the
// scenario cannot have the value, why says why, and there are no runs.
func runWith(s *scenarios.Scenario, override string, o scenarios.RunOptions) (outcome Outcome, runs []scenarios.RunResult, why string, err error) {
	changed, err := s.With(override)
	if err != nil {
		return Outcome{IsImpossible: true}, nil, err.Error(), nil
	}
	outcome, runs, why, err = runBoth(changed, o)
	if err != nil {
		err = fmt.Errorf("%s: %w", override, err)
	}
	return outcome, runs, why, err
}

// runBoth runs the variant of a scenario, which must have one. If the scenario does not
// apply to the lock, why says why, and there are no runs.
func runBoth(s *scenarios.Scenario, o scenarios.RunOptions) (outcome Outcome, runs []scenarios.RunResult, why string, err error) {
	runs, notApplicable, err := s.Variants[0].RunBoth(o)
	switch {
	case errors.Is(err, sim.ErrTooMuch), errors.Is(err, sim.ErrTooLarge):
		return Outcome{IsImpossible: true}, nil, err.Error(), nil // on every machine at the same event
	case err != nil:
		return Outcome{}, nil, "", err
	case notApplicable != "":
		return Outcome{IsImpossible: true}, nil, notApplicable, nil
	}
	worst := func(p checks.Property) checks.Outcome {
		outcomes := []checks.Outcome{runs[0].Verdict.Finding(p).Outcome, runs[1].Verdict.Finding(p).Outcome}
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
		Off: runs[0].Verdict.Verdict, On: runs[1].Verdict.Verdict,
		Leases: worst(checks.LeaseExclusion), Sections: worst(checks.SectionExclusion),
		IsStuck: slices.ContainsFunc(runs, isStuck),
	}, runs, "", nil
}
