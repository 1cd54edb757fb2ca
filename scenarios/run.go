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

// RunOptions say how to run a scenario.
type RunOptions struct {
	// Seed decides the latencies and every random value.
	Seed uint64
	// Lock is the name of a kind of lock to use instead of the scenario's own; see
	// [Options]. "" means the scenario's own lock.
	Lock string
	// Kind is a kind of lock to use instead of Lock. It need not be registered. The zero
	// Kind means that Lock decides.
	Kind locks.Kind
	// Patience is how much real time a run may take; 0 means sim.DefaultPatience. See
	// sim.RunPatiently.
	Patience time.Duration
	// MaxEvents is how many events a run may have; 0 means as many as a trace can hold. See
	// [sim.Config].
	MaxEvents int
	// SkipsFencing, if not nil, reports whether RunBoth can leave out the run with fencing tokens.
	// It gets the configuration of that run, and the result of the run without tokens.
	SkipsFencing func(on sim.Config, off RunResult) bool
}

// forFencing returns the options for the run without fencing or for the run with it.
func (o RunOptions) forFencing(fencing string) Options {
	return Options{Seed: o.Seed, Lock: o.Lock, Kind: o.Kind, Fencing: fencing}
}

// A Result is the result of all runs of a scenario.
type Result struct {
	Scenario *Scenario
	// Lock is the kind of lock that the options asked for, or else the lock of the first
	// variant.
	Lock string
	Seed uint64
	// AsExpected is false if a run differs from what the scenario expects. If no run
	// differs, it is true if the scenario expects something of every run, and nil
	// otherwise.
	AsExpected *bool
	// Runs are the run without fencing tokens and the run with them for the first variant,
	// then for the second, and so on.
	Runs []RunResult
}

// A RunResult is the result of one run.
type RunResult struct {
	Variant *Variant
	// Lock is the kind of lock that the run used.
	Lock string
	// Fencing is [Off] or [On].
	Fencing string
	// Represents says which servers of the scenario the lock's only server represents, if the
	// lock is not the scenario's own; "" if it represents none.
	Represents string
	// History is what the trace of the run says.
	History *history.History
	Verdict *checks.Verdict
	// Measures are all measures of the run, in the order of [checks.MeasureNames].
	Measures []checks.Measure
	// Expected is what the scenario expects of the run; nil if it expects nothing.
	Expected *Expectation
	// Differences are the differences between the run and Expected.
	Differences []checks.Reason
}

// Run runs every variant of a scenario without fencing tokens and with them, with the same
// seed. It fails if a world cannot be made or does not end. If a run differs from what the
// scenario expects, that is not an error.
func Run(s *Scenario, o RunOptions) (*Result, error) {
	var runs []RunResult
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

// Run runs a variant once; fencing is [Off] or [On]. It fails in the same cases as the
// function [Run].
func (v *Variant) Run(o RunOptions, fencing string) (RunResult, error) {
	config, err := v.Config(o.forFencing(fencing))
	if err != nil {
		return RunResult{}, err
	}
	return v.runConfig(config, o, fencing)
}

// runConfig runs a world of the variant once and judges it.
func (v *Variant) runConfig(config sim.Config, o RunOptions, fencing string) (RunResult, error) {
	config.MaxEvents = o.MaxEvents
	t, err := sim.RunPatiently(config, cmp.Or(o.Patience, sim.DefaultPatience))
	// A lock that panics or leaves a goroutine behind still has a complete trace.
	if err != nil && !errors.Is(err, sim.ErrLeak) && !errors.Is(err, sim.ErrPanic) {
		return RunResult{}, err
	}
	run := v.Judge(t, cmp.Or(o.Kind.Name, o.Lock, v.Lock), fencing)
	if o.Kind.Name != "" { // no scenario expects anything of a lock that is not registered
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
