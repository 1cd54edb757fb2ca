package runs

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A JudgedRun is a run and its verdict.
type JudgedRun struct {
	// History is what happened. It is nil if a client's code hangs, because that code may
	// still be running.
	History *history.History
	Verdict *checks.Verdict
	// Ending is how a client's code ended the run; nil if the run ended normally.
	Ending *trace.Ending
}

// Judge runs a world and judges the run. patience is the longest real time that the run may
// take (see [sim.RunPatiently]). witnessesIn returns the witnesses that must be seen in a
// trace; nil requires none. If a client's code ended the run, for example by a panic, that
// is in the verdict, and is no error. An error means that the run shows nothing about the
// lock: the world makes no sense, or is too large or too slow for this machine.
func Judge(world sim.Config, patience time.Duration, witnessesIn func(*trace.Trace) []trace.Witness) (JudgedRun, error) {
	t, err := sim.RunPatiently(world, patience)
	if t == nil {
		return JudgeError(err)
	}
	ending := sim.Ending(err)
	if err != nil && ending == nil {
		return JudgedRun{}, err
	}
	var witnesses []trace.Witness
	if witnessesIn != nil {
		witnesses = witnessesIn(t)
	}
	h := history.New(t)
	verdict := checks.Check(h, witnesses)
	if !slices.ContainsFunc(verdict.Reasons, checks.Reason.IsEnding) {
		ending = nil // the clients' programs ended the run, and not the lock
	}
	return JudgedRun{h, verdict, ending}, nil
}

// JudgeError judges a run from its error alone. If the error is that a client's code ended
// the run, it returns the verdict. Otherwise it returns the error.
func JudgeError(err error) (JudgedRun, error) {
	if ending := sim.Ending(err); ending != nil {
		return judgeEnding(ending), nil
	}
	return JudgedRun{}, err
}

// judgeEnding judges a run that a client's code ended and that left no trace.
func judgeEnding(ending *trace.Ending) JudgedRun {
	return JudgedRun{Ending: ending, Verdict: checks.Check(history.New(&trace.Trace{Ending: ending}), nil)}
}
