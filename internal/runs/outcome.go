package runs

import (
	"slices"

	"github.com/locksim/locksim/checks"
)

// An Outcome is what a world came to, without fencing tokens and with them.
type Outcome struct {
	Off Run `json:"off"`
	On  Run `json:"on"`
	// Grounds are what else its runs show, from which other worlds follow. They are no part
	// of what the world came to.
	Grounds Grounds `json:"-"`
}

// A Run is what one run came to.
type Run struct {
	// Behaviour stands for what the clients, the nodes and the storage did, in the
	// abstract: runs that differ only in times, and in which of several nodes did
	// what, have one behaviour.
	Behaviour uint64 `json:"behaviour,omitempty"`
	// Spare is how many more slots than its quorum whoever used the lock had at least
	// while it did: how near it was to losing it.
	Spare int `json:"spare,omitempty"`
	// Breaks are what broke, in the order of checks.Properties.
	Breaks []Break `json:"breaks,omitempty"`
	// RanOn says that a paused process started something all the same, as code that
	// is not written on the simulated clock can.
	RanOn bool `json:"ran_on,omitempty"`
	// Doubt says why the run proves nothing, such as a fault that did not act; "" if it
	// does.
	Doubt string `json:"doubt,omitempty"`
	// Late says that the run was cut off because it took too long here. On another
	// machine it may not, so no ledger takes it down.
	Late bool `json:"late,omitempty"`
}

// A Break is something that broke.
type Break struct {
	// What is a property of package checks, or what a lock must not do: panic,
	// hang, goroutine leak, endless retry.
	What string `json:"what"`
	// Fault says whose fault it is; zero where that cannot be told.
	Fault checks.Blame `json:"fault,omitzero"`
	// Why says of what a lock must not do what it did, and shows the stack.
	Why string `json:"why,omitempty"`
}

// The runs of a world.
const (
	Without = "off" // fencing tokens
	With    = "on"
)

// Of is one of the two.
func (o Outcome) Of(fencing string) Run {
	if fencing == With {
		return o.On
	}
	return o.Off
}

// Broke says whether anything did, in either run.
func (o Outcome) Broke() bool { return len(o.Off.Breaks)+len(o.On.Breaks) > 0 }

// RanOn says whether either run did.
func (o Outcome) RanOn() bool { return o.Off.RanOn || o.On.RanOn }

// Misconduct says that something happened after which the process is not to be relied
// on.
func (o Outcome) Misconduct() bool { return o.Off.Misconduct() || o.On.Misconduct() }

// Misconduct says that of one run.
func (r Run) Misconduct() bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.Why != "" })
}

// shows says whether something broke in either run.
func (o Outcome) shows(what string) bool { return o.Off.shows(what) || o.On.shows(what) }

// shows says whether something broke in the run.
func (r Run) shows(what string) bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.What == what })
}
