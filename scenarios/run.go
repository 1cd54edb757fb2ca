package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// RunOptions select how a scenario is run.
type RunOptions struct {
	// Seed selects the latencies and every random value.
	Seed uint64
	// Lock is a kind of lock to use in place of the scenario's own; see
	// [Options]. Empty is the scenario's own.
	Lock string
	// Kind is a kind of lock that need not be registered, to use in place of
	// Lock; a zero Kind is none.
	Kind locks.Kind
	// Patience is how much real time a world may take; 0 is sim.DefaultPatience. See
	// sim.RunPatiently.
	Patience time.Duration
}

// of are the options of one run.
func (o RunOptions) of(fencing string) Options {
	return Options{Seed: o.Seed, Lock: o.Lock, Kind: o.Kind, Fencing: fencing}
}

// A Result is what all the runs of a scenario came to.
type Result struct {
	Scenario *Scenario
	// Lock is the kind of lock that was asked for in the options, and otherwise
	// the one of the first variant.
	Lock string
	Seed uint64
	// AsExpected is false when a run came to something else than the scenario
	// expects, and otherwise nil when it expects nothing of some run.
	AsExpected *bool
	// Runs are the runs without and with fencing tokens of the first variant,
	// then of the second, and so on.
	Runs []Outcome
}

// An Outcome is what one run came to.
type Outcome struct {
	Variant *Variant
	// Lock is the kind of lock that the run used.
	Lock string
	// Fencing is [Off] or [On].
	Fencing string
	// History is what the trace of the run says.
	History *history.History
	Verdict *checks.Verdict
	// Measures are what the run took, all of them in the order of
	// [checks.MeasureNames].
	Measures []checks.Measure
	// Expected is what the scenario expects of the run; nil if it does not say.
	Expected *Expectation
	// Differences are where the run differs from that, a line each.
	Differences []checks.Reason
}

// Run runs every variant of a scenario without fencing tokens and with them, on
// the same seed. It returns an error when a world cannot be made or does not
// come to its end; a run that comes to something unexpected is no error.
func Run(s *Scenario, o RunOptions) (*Result, error) {
	var runs []Outcome
	for _, v := range s.Variants {
		for _, fencing := range []string{Off, On} {
			run, err := v.Run(o, fencing)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.describe(fencing), err)
			}
			runs = append(runs, run)
		}
	}
	return NewResult(s, cmp.Or(o.Kind.Name, o.Lock, s.Variants[0].Lock), o.Seed, runs), nil
}

// Run runs a variant without fencing tokens or with them: fencing is [Off] or [On]. The error is
// that of [Run].
func (v *Variant) Run(o RunOptions, fencing string) (Outcome, error) {
	config, err := v.Config(o.of(fencing))
	if err != nil {
		return Outcome{}, err
	}
	t, err := sim.RunPatiently(config, cmp.Or(o.Patience, sim.DefaultPatience))
	// The story of a lock that panics or leaves a goroutine behind is there.
	if err != nil && !errors.Is(err, sim.ErrLeak) && !errors.Is(err, sim.ErrPanic) {
		return Outcome{}, err
	}
	run := v.Judge(t, cmp.Or(o.Kind.Name, o.Lock, v.Lock), fencing)
	if o.Kind.Name != "" { // whatever it is called, no scenario knows it
		run.Expected, run.Differences = nil, nil
	}
	return run, nil
}

// describe names one run in an error.
func (v *Variant) describe(fencing string) string {
	name := v.Scenario
	if v.Name != "" {
		name += ", variant " + v.Name
	}
	return fmt.Sprintf("%s, fencing %s", name, fencing)
}
