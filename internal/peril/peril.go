// Package peril classifies what one world does to the data and to the lock, for danger maps. A
// danger map is a table of the results of faults: a row for each moment at which the fault strikes,
// a column for each length.
package peril

import (
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
)

// A Peril is what one cell of a danger map shows: what happens to the lock, and whether it
// also happens with fencing tokens. A greater value is worse.
type Peril int

const (
	// The perils, the least harmful first. CorruptedWithout means that only the run without
	// fencing tokens corrupts the data, and CorruptedWith that the run with them does so
	// too.
	Unharmed Peril = iota
	Unclear
	Misbehaved
	TwoHolders
	CorruptedWithout
	CorruptedWith
)

// All returns all perils, the least harmful first.
func All() []Peril {
	return []Peril{Unharmed, Unclear, Misbehaved, TwoHolders, CorruptedWithout, CorruptedWith}
}

// Of returns the peril of one run. d is the danger that the run shows, and fencing is
// [runs.FencingOff] or [runs.FencingOn]. Any other danger, such as that of an inconclusive run, is
// Unclear.
func Of(d explore.Danger, fencing string) Peril {
	switch d {
	case explore.Harmless:
		return Unharmed
	case explore.Misbehaved:
		return Misbehaved
	case explore.TwoHolders:
		return TwoHolders
	case explore.Corrupted:
		if fencing == runs.FencingOn {
			return CorruptedWith
		}
		return CorruptedWithout
	}
	return Unclear
}

// signs are the signs in the cells of a chart. levels are the classes of the perils in a style
// sheet, and meanings their names for people.
var (
	signs    = []string{Unharmed: "·", Unclear: "?", Misbehaved: "m", TwoHolders: "2", CorruptedWithout: "x", CorruptedWith: "X"}
	levels   = []string{Unharmed: "unharmed", Unclear: "unclear", Misbehaved: "misbehaved", TwoHolders: "two-holders", CorruptedWithout: "corrupted", CorruptedWith: "corrupted-fenced"}
	meanings = []string{
		Unharmed: "safe", Unclear: "unknown", Misbehaved: "misconduct: the lock does something that no caller can tolerate", TwoHolders: "two holders at the same time",
		CorruptedWithout: "data corrupted without fencing", CorruptedWith: "data corrupted even with fencing",
	}
)

// Sign returns the sign of the peril: one character.
func (p Peril) Sign() string { return signs[p] }

// Level returns the class of the peril in a style sheet.
func (p Peril) Level() string { return levels[p] }

// Meaning returns the name of the peril for people.
func (p Peril) Meaning() string { return meanings[p] }
