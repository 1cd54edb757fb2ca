package explore

import (
	"context"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// A Base is a workload without faults.
type Base struct {
	// Name tells the bases of a search apart.
	Name string
	// Text is a scenario file with one story. Its faults and what it says about
	// itself are left out.
	Text []byte
	// Kind is a kind of lock that need not be registered, to use in place of the
	// file's own; a zero Kind is none.
	Kind locks.Kind
	// Programs are what some clients do, by their names, instead of a critical section.
	// No file can tell it, so a way found with them has none. Like Kind they cannot
	// leave their process.
	Programs map[string]Program
	// Kinds are the kinds of faults that make sense in it.
	Kinds Kinds
	// Seed selects the latencies and every random value.
	Seed uint64
}

// A Program is what a client does; see [sim.Client].
type Program = func(context.Context, *sim.Program) error

// A World is a base with faults. Its zero value is the first base as it is.
type World struct {
	// Base is the base's place in the list of bases, from 0, and Change what is different
	// in it.
	Base   int              `json:"base,omitempty"`
	Change scenarios.Change `json:"change,omitzero"`
	Faults []Fault          `json:"faults,omitempty"`
}

// With is the world with other faults.
func (w World) With(faults ...Fault) World {
	w.Faults = faults
	return w
}
