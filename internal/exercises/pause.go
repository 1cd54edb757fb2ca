package exercises

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// pauseTolerance is how far above the border a pause may be.
const pauseTolerance = 50 * time.Millisecond

// checkPause runs the exercise's own world with the length of the scenario's pause, and looks
// for a shorter pause that does harm.
func checkPause(s *scenarios.Scenario, seeds []uint64) (*Failure, error) {
	const hint = "the write does harm if another client has been granted the lock before it. When can client-2 be granted the lock at the earliest, and when does client-1's pause begin? A client that was refused asks again only after a while"
	config, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off})
	if err != nil {
		return nil, err
	}
	if len(config.Faults) != 1 || config.Faults[0].Effect() != trace.StopsProcess || config.Faults[0].For <= 0 {
		return &Failure{Why: "The scenario should have one fault, a pause with a length (for)."}, nil
	}
	length := config.Faults[0].For
	const path = "faults[1].for"
	for _, seed := range seeds {
		run, why, err := runWith(base("pause.yaml"), seed, scenarios.Off, path+"="+length.String())
		if err != nil {
			return nil, err
		}
		if why != "" {
			return &Failure{Why: "The pause cannot be used: " + sentence(why)}, nil
		}
		if run.Verdict.Verdict != checks.Unsafe {
			return &Failure{
				Why:   fmt.Sprintf("A pause of %v does no harm, with seed %d.", length, seed),
				Lines: reports.Timeline{}.Excerpt(run.History, decisions(run.History)), Hint: hint,
			}, nil
		}
		hasShorter, err := hasShorterPause(path, length, seed)
		if err != nil {
			return nil, err
		}
		if hasShorter {
			return &Failure{
				Why:  fmt.Sprintf("A pause of %v does harm, but it is not the smallest: a pause that is more than %v shorter does harm too.", length, pauseTolerance),
				Hint: hint,
			}, nil
		}
	}
	return nil, nil
}

// hasShorterPause reports whether a pause that is shorter than length by more than the
// tolerance does harm.
func hasShorterPause(path string, length time.Duration, seed uint64) (bool, error) {
	if length <= pauseTolerance+time.Millisecond {
		return false, nil
	}
	r, _, err := whatif.ParseRange(fmt.Sprintf("1ms..%v", length-pauseTolerance))
	if err != nil {
		return false, err
	}
	sweep, err := whatif.Run(base("pause.yaml"), path, r, 24, scenarios.RunOptions{Seed: seed, Patience: patience}, nil)
	if err != nil {
		return false, err
	}
	for _, b := range sweep.Bands {
		if b.Outcome.Off == checks.Unsafe {
			return true, nil
		}
	}
	return false, nil
}
