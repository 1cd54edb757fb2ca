package rundiff

import (
	"reflect"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A Diff is two runs that are compared.
type Diff struct{ Left, Right Side }

// A Side is one of the two runs.
type Side struct {
	// Result has the run, and no other.
	*scenarios.Result
	// File is the file of the saved trace that has the run; "" if no file has it.
	File string
}

// Run returns the run.
func (s Side) Run() scenarios.RunResult { return s.Runs[0] }

// CommonEvents returns the number of events at the beginning that are equal in both runs.
func (d *Diff) CommonEvents() int {
	left, right := d.Left.Run().History.Trace.Events, d.Right.Run().History.Trace.Events
	n := 0
	for n < min(len(left), len(right)) && reflect.DeepEqual(left[n], right[n]) {
		n++
	}
	return n
}

// Steps returns the steps of both runs. If messages is true, each message is a step.
func (d *Diff) Steps(messages bool) (left, right []story.Clause) {
	return story.Clauses(d.Left.Run().History, messages), story.Clauses(d.Right.Run().History, messages)
}
