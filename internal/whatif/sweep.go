package whatif

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/internal/bands"
	"github.com/locksim/locksim/scenarios"
)

// DefaultSteps is the default number of steps.
const DefaultSteps = 60

// ErrNoValue is the error of a sweep whose scenario can have no value of the range.
var ErrNoValue = errors.New("no value of the range is possible")

// A Sweep holds the outcomes of a scenario for a range of values at one path.
type Sweep struct {
	// Scenario has one variant. Overrides that are the same for all values are part of it.
	Scenario *scenarios.Scenario
	// Path is the place of the value; see [scenarios.Scenario.With].
	Path string
	Range
	// Lock is the kind of lock of the runs, and Seed their seed.
	Lock string
	Seed uint64
	// Steps is the number of equal steps, and Tried the number of values that were tried,
	// at the steps and between them.
	Steps, Tried int
	Bands        []SweepBand
}

// A SweepBand is a band with an example. A band is a part of the range in which all values that
// were tried have the same outcome.
type SweepBand struct {
	bands.Band[Outcome]
	// Runs are the runs with the first value of the band. If the scenario cannot have the
	// value, there are none, and Why is the reason.
	Runs []scenarios.RunResult
	Why  string
}

// Example returns the override that gives the scenario the first value of a band.
func (s *Sweep) Example(b SweepBand) string { return s.override(b.From) }

// override returns the override that gives the scenario a value.
func (s *Sweep) override(value int64) string { return s.Path + "=" + s.Format(value) }

// Run runs a scenario, which must have one variant, with the values of a range at a path.
// It calls onValue, if it is not nil, after each value. It fails with [ErrNoValue], or if a
// world does not end.
func Run(s *scenarios.Scenario, path string, r Range, steps int, o scenarios.RunOptions, onValue func()) (*Sweep, error) {
	v := s.Variants[0]
	sweep := &Sweep{Scenario: s, Path: path, Range: r, Lock: o.Lock, Seed: o.Seed, Steps: steps}
	if sweep.Lock == "" {
		sweep.Lock = v.Lock
	}
	found, n, err := bands.Find(r.Steps(steps), r.split, func(value int64) (Outcome, error) {
		outcome, err := outcomeWith(s, o, sweep.override(value))
		if onValue != nil {
			onValue()
		}
		return outcome, err
	})
	if err != nil {
		return nil, err
	}
	sweep.Tried = n
	for _, b := range found {
		// The run is made again, because the runs of all values would need too much memory.
		_, runs, why, err := runWith(s, o, sweep.override(b.From))
		if err != nil {
			return nil, err
		}
		sweep.Bands = append(sweep.Bands, SweepBand{Band: b, Runs: runs, Why: why})
	}
	if len(found) == 1 && found[0].Outcome.IsImpossible {
		return nil, fmt.Errorf("%w: %s", ErrNoValue, sweep.Bands[0].Why)
	}
	return sweep, nil
}
