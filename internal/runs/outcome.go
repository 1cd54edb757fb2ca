package runs

import (
	"slices"

	"github.com/locksim/locksim/checks"
)

// A WorldResult is the result of a world: of its run without fencing tokens and of its run
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
	// used the lock: how near it was to losing the lock.
	Spare int `json:"spare,omitempty"`
	// Breaks are what broke, in the order of checks.Properties.
	Breaks []Break `json:"breaks,omitempty"`
	// RanOn reports that a paused process started something nevertheless. Code can do that
	// if it is not written for the simulated clock.
	RanOn bool `json:"ran_on,omitempty"`
	// Doubt says why the run is inconclusive, such as a fault that did not act; "" if the
	// run is conclusive.
	Doubt string `json:"doubt,omitempty"`
	// Late reports that the run was cut off because it took too long on this machine.
	// Another machine may be faster, so no ledger records it.
	Late bool `json:"late,omitempty"`
}

// A Break is something that broke.
type Break struct {
	// What is a property of package checks, or a rule of conduct that the lock broke:
	// panic, hang, goroutine leak, endless retry.
	What string `json:"what"`
	// Blame is zero if it cannot be determined.
	Blame checks.Blame `json:"fault,omitzero"`
	// Why is set for misconduct: what the lock did, and the stack.
	Why string `json:"why,omitempty"`
}

// The two runs of a world.
const (
	FencingOff = "off" // without fencing tokens
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

// Broke reports whether anything broke, in either run.
func (o WorldResult) Broke() bool { return len(o.Off.Breaks)+len(o.On.Breaks) > 0 }

// RanOn reports whether a paused process ran on, in either run.
func (o WorldResult) RanOn() bool { return o.Off.RanOn || o.On.RanOn }

// HasMisconduct reports whether the lock's conduct in either run leaves the process
// unreliable.
func (o WorldResult) HasMisconduct() bool { return o.Off.HasMisconduct() || o.On.HasMisconduct() }

// HasMisconduct reports the same of one run.
func (r RunResult) HasMisconduct() bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.Why != "" })
}

// hasBreak reports whether something broke in either run.
func (o WorldResult) hasBreak(what string) bool { return o.Off.hasBreak(what) || o.On.hasBreak(what) }

// hasBreak reports whether something broke in the run.
func (r RunResult) hasBreak(what string) bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.What == what })
}
