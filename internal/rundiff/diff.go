package rundiff

import (
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// A Diff has the two runs that are compared.
type Diff struct{ Left, Right Side }

// A Side is one of the two runs.
type Side struct {
	// Result has exactly one run.
	*scenarios.Result
	// File is the file with the saved trace of the run; "" if the run was not read from a
	// file.
	File string
}

// Run returns the run.
func (s Side) Run() scenarios.RunResult { return s.Runs[0] }

// CommonEvents returns the number of events at the beginning that are equal in both runs.
func (d *Diff) CommonEvents() int {
	left, right := d.Left.Run().History, d.Right.Run().History
	if first := trace.FirstDifference(left.Trace, right.Trace).Event; first > 0 {
		return first - 1
	}
	return left.EventCount()
}

// Steps returns the steps of both runs. If messages is true, each message is a step.
func (d *Diff) Steps(messages bool) (left, right []story.Clause) {
	return story.Clauses(d.Left.Run().History, messages), story.Clauses(d.Right.Run().History, messages)
}
