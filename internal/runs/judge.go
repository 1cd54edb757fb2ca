package runs

import (
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Judged is a run and what it says.
type Judged struct {
	// History is what happened; nil if a client's code hangs, which can still be at work.
	History *history.History
	Verdict *checks.Verdict
	// Ending is how a client's code ended the run; nil if the run came to its own end.
	Ending *trace.Ending
}

// Judge runs a world and judges it: it takes so much real time at most (see
// [sim.RunPatiently]), and seen are the witnesses that its trace must show; nil is none. How a
// client's code ended the run is in the verdict, and is no error. An error says that the run
// says nothing of the lock: the world makes no sense, or is too large or too slow for this
// machine.
func Judge(world sim.Config, patience time.Duration, seen func(*trace.Trace) []trace.Witness) (Judged, error) {
	t, err := sim.RunPatiently(world, patience)
	if t == nil {
		return Ended(err)
	}
	ending := sim.Ending(err)
	if err != nil && ending == nil {
		return Judged{}, err
	}
	var witnesses []trace.Witness
	if seen != nil {
		witnesses = seen(t)
	}
	h := history.Of(t)
	return Judged{h, checks.Check(h, witnesses), ending}, nil
}

// Ended judges a world of which nothing is known but the error with which it ended.
func Ended(err error) (Judged, error) {
	if ending := sim.Ending(err); ending != nil {
		return ended(ending), nil
	}
	return Judged{}, err
}

// ended judges a run that left no trace.
func ended(how *trace.Ending) Judged {
	return Judged{Ending: how, Verdict: checks.Check(history.Of(&trace.Trace{Ending: how}), nil)}
}
