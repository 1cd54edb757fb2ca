package runs

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A WorldResult is the result of a world's two runs: Off without fencing tokens, and On
// with them.
type WorldResult struct {
	Off RunResult `json:"off"`
	On  RunResult `json:"on"`
	// Grounds are observations from which the results of other worlds follow. They are not
	// part of the world's result.
	Grounds Grounds `json:"-"`
}

// A RunResult is the result of one run.
type RunResult struct {
	// Behaviour is a hash of what the clients, the nodes and the storage did. Runs that
	// differ only in times, or in which of several nodes did something, have the same
	// behaviour.
	Behaviour uint64 `json:"behaviour,omitempty"`
	// Spare is the smallest number of slots beyond the quorum that a client had while it
	// used the lock. It shows how near the client was to losing the lock.
	Spare int `json:"spare,omitempty"`
	// Breaks has everything that broke, in the order of checks.Properties.
	Breaks []Break `json:"breaks,omitempty"`
	// RanOn means that a process did something while it was paused. A real pause prevents
	// that, but code that is not written for the simulated clock can do it.
	RanOn bool `json:"ran_on,omitempty"`
	// Doubt says why the run is inconclusive, such as a fault that did not act; "" if the
	// run is conclusive.
	Doubt string `json:"doubt,omitempty"`
	// Late means that the run was cut off because it took too long on this machine. Another
	// machine may be faster, so the result is not saved.
	Late bool `json:"late,omitempty"`
}

// ResultOf summarizes a run.
func ResultOf(j JudgedRun) RunResult {
	r := RunResult{RanOn: j.Verdict.RanOn}
	if len(j.Verdict.Reasons) > 0 && j.Ending == nil {
		r.Doubt = story.ForPrograms.Reason(j.Verdict.Reasons[0])
	}
	for _, f := range j.Verdict.Findings {
		switch {
		case !f.Counts():
		case j.Ending != nil && string(f.Property) == j.Ending.Rule: // it comes first, because people have to see it first
			r.Breaks = slices.Insert(r.Breaks, 0, breakOf(*j.Ending, f.Blame))
		default:
			r.Breaks = append(r.Breaks, Break{What: string(f.Property), Blame: f.Blame})
		}
	}
	if j.History != nil {
		r.Behaviour, r.Spare = hashBehaviour(j.History)
	}
	return r
}

// A Break is one thing that broke in a run: a property that is violated, or misconduct of
// the lock.
type Break struct {
	// What is the name of the property, or of the misconduct, such as panic, hang,
	// goroutine leak or endless retry.
	What string `json:"what"`
	// Blame says what is to blame: the lock, a broken assumption, or the kind of lock, if no
	// lock of this kind can prevent the break. It is zero if it cannot be determined.
	Blame checks.Blame `json:"fault,omitzero"`
	// Why is set for misconduct that ended the run: what the lock did. Stack is the beginning
	// of the stacks of its goroutines; "" if there are none.
	Why   string `json:"why,omitempty"`
	Stack string `json:"stack,omitempty"`
}

// breakOf returns the misconduct that ended a run.
func breakOf(e trace.Ending, blame checks.Blame) Break {
	return Break{What: e.Rule, Blame: blame, Why: shortStack(e.Why), Stack: shortStack(e.Stacks)}
}

// The two runs of a world: without and with fencing tokens.
const (
	FencingOff = "off" // the storage ignores fencing tokens
	FencingOn  = "on"
)

// ForFencing returns the result of one of the two runs: fencing is [FencingOff] or
// [FencingOn].
func (o WorldResult) ForFencing(fencing string) RunResult {
	if fencing == FencingOn {
		return o.On
	}
	return o.Off
}

// Broke reports whether anything broke in one of the two runs.
func (o WorldResult) Broke() bool { return len(o.Off.Breaks)+len(o.On.Breaks) > 0 }

// RanOn reports whether a paused process did something in one of the two runs.
func (o WorldResult) RanOn() bool { return o.Off.RanOn || o.On.RanOn }

// HasMisconduct reports whether the lock ended one of the two runs, for example by a panic.
// The process in which it ran may then be unreliable.
func (o WorldResult) HasMisconduct() bool { return o.Off.HasMisconduct() || o.On.HasMisconduct() }

// HasMisconduct reports whether the lock ended the run, for example by a panic.
func (r RunResult) HasMisconduct() bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.Why != "" })
}

// hasBreak reports whether the property or misconduct of this name broke in one of the two runs.
func (o WorldResult) hasBreak(what string) bool { return o.Off.hasBreak(what) || o.On.hasBreak(what) }

// hasBreak reports whether the property or misconduct of this name broke in the run.
func (r RunResult) hasBreak(what string) bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.What == what })
}
