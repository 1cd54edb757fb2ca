package whatif

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// DefaultSteps is in how many steps a range is tried if nobody says otherwise.
const DefaultSteps = 60

// ErrNoValue is the error of a sweep whose scenario can have no value of the range.
var ErrNoValue = errors.New("the scenario can have none of these values")

// A Sweep is what a scenario comes to with each value of a range in one place.
type Sweep struct {
	// Scenario has one variant. Overrides that are the same for all values are part of it.
	Scenario *scenarios.Scenario
	// Path is the place of the value; see [scenarios.Override].
	Path string
	Range
	// Lock is the kind of lock of the runs, and Seed their seed.
	Lock string
	Seed uint64
	// Steps is in how many equal steps the range was tried, and Tried how many values were
	// tried in all.
	Steps, Tried int
	Bands        []SweepBand
}

// An Outcome is what the two runs of a variant come to, as far as a sweep distinguishes it.
type Outcome struct {
	// Off and On are the verdicts of the run without fencing tokens and of the run with
	// them.
	Off, On string
	// HasTwoHolders reports whether two clients held a lease at the same time in either
	// run, and Overlaps whether two were in their sections.
	HasTwoHolders, Overlaps bool
	// IsRefused reports that the scenario cannot have the value.
	IsRefused bool
}

// A SweepBand is a band of a sweep.
type SweepBand struct {
	Band[Outcome]
	// Runs are the runs with the first value of the band. If the value is refused, there
	// are none, and Why is the reason.
	Runs []scenarios.RunResult
	Why  string
}

// Example returns the override that gives the scenario the first value of a band.
func (s *Sweep) Example(b SweepBand) scenarios.Override {
	return scenarios.Override{Path: s.Path, Value: s.Format(b.From)}
}

// Run tries the values of a range in a scenario with one variant. tried, if it is not nil,
// is called after each value. It fails with [ErrNoValue], or if a world does not end.
func Run(s *scenarios.Scenario, path string, r Range, steps int, o scenarios.RunOptions, tried func()) (*Sweep, error) {
	v := s.Variants[0]
	sweep := &Sweep{Scenario: s, Path: path, Range: r, Lock: o.Lock, Seed: o.Seed, Steps: steps}
	if sweep.Lock == "" {
		sweep.Lock = v.Lock
	}
	examples := map[int64]SweepBand{}
	bands, n, err := FindBands(r, steps, func(value int64) (Outcome, error) {
		b, err := sweep.try(value, o)
		examples[value] = b
		if tried != nil {
			tried()
		}
		return b.Outcome, err
	})
	if err != nil {
		return nil, err
	}
	sweep.Tried = n
	for _, b := range bands {
		example := examples[b.From]
		example.Band = b
		sweep.Bands = append(sweep.Bands, example)
	}
	if len(bands) == 1 && bands[0].Outcome.IsRefused {
		return nil, fmt.Errorf("%w, for example %s: %s", ErrNoValue, sweep.Example(sweep.Bands[0]), sweep.Bands[0].Why)
	}
	return sweep, nil
}

// try runs the scenario with one value.
func (s *Sweep) try(value int64, o scenarios.RunOptions) (SweepBand, error) {
	override := scenarios.Override{Path: s.Path, Value: s.Format(value)}
	refused := func(why string) (SweepBand, error) {
		return SweepBand{Band: Band[Outcome]{Outcome: Outcome{IsRefused: true}}, Why: why}, nil
	}
	changed, err := s.Scenario.With(override)
	if err != nil {
		return refused(err.Error())
	}
	runs, notApplicable, err := changed.Variants[0].RunBoth(o)
	switch {
	case err != nil:
		return SweepBand{}, fmt.Errorf("%s: %w", override, err)
	case notApplicable != "":
		return refused(notApplicable)
	}
	outcome := Outcome{Off: runs[0].Verdict.Verdict, On: runs[1].Verdict.Verdict}
	for _, run := range runs {
		outcome.HasTwoHolders = outcome.HasTwoHolders || run.Verdict.Finding(checks.LeaseExclusion).Outcome == checks.Violated
		outcome.Overlaps = outcome.Overlaps || run.Verdict.Finding(checks.SectionExclusion).Outcome == checks.Violated
	}
	return SweepBand{Band: Band[Outcome]{Outcome: outcome}, Runs: runs}, nil
}
