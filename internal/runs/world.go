package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Base is a workload without faults.
type Base struct {
	// Name tells the bases of a search apart.
	Name string `json:"name"`
	// Text is a scenario file with one story. Its faults and what it says about
	// itself are left out.
	Text []byte `json:"text"`
	// Kind is a kind of lock that need not be registered, to use in place of the
	// file's own; a zero Kind is none.
	Kind locks.Kind `json:"-"`
	// Programs are what some clients do, by their names, instead of a critical section.
	// No file can tell it, so a way found with them has none. Like Kind they cannot
	// leave their process.
	Programs map[string]Program `json:"-"`
	// Config, if not nil, makes the worlds without faults in place of Text. Like Kind it
	// cannot leave its process.
	Config func(fencing string) (sim.Config, error) `json:"-"`
	// Seed selects the latencies and every random value.
	Seed uint64 `json:"seed"`
}

// A Program is what a client does; see [sim.Client].
type Program = func(context.Context, *sim.Program) error

// Story is the base as a file tells it.
func (b Base) Story() (*scenarios.Variant, error) { return ParseOne(b.Name, b.Text) }

// ParseOne reads a scenario that has no variants.
func ParseOne(name string, text []byte) (*scenarios.Variant, error) {
	s, err := scenarios.Parse(name+".yaml", text)
	if err != nil {
		return nil, err
	}
	if len(s.Variants) != 1 {
		return nil, fmt.Errorf("%s has %d variants; a base has one", name, len(s.Variants))
	}
	return s.Variants[0], nil
}

// A World is a base with faults. Its zero value is the first base as it is.
type World struct {
	// Base is the base's place in the list of bases, from 0.
	Base   int     `json:"base,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
	// Change is what is different in the base.
	Change scenarios.Change `json:"change,omitzero"`
}

// With is the world with other faults. What a node writes to its disk makes no difference
// unless it crashes.
func (w World) With(faults ...Fault) World {
	w.Faults = faults
	if w.Change.Persistence == nil {
		return w
	}
	w.Change.Persistence = maps.Clone(w.Change.Persistence)
	maps.DeleteFunc(w.Change.Persistence, func(node string, _ sim.Persistence) bool {
		return !slices.ContainsFunc(faults, func(f Fault) bool { return f.Effect() == trace.KillsProcess && f.Target() == node })
	})
	return w
}

// And is a world with the faults of another of the same base as well; false if they do not
// go together: a node writes to its disk in one way only, and the same fault twice is one.
// The two differ from the base in nothing but that.
func (w World) And(o World) (World, bool) {
	for _, f := range o.Faults {
		if slices.ContainsFunc(w.Faults, f.Equal) {
			return w, false
		}
	}
	for node, is := range o.Change.Persistence {
		if was, ok := w.Change.Persistence[node]; ok && was != is {
			return w, false
		}
	}
	w.Faults = slices.Concat(w.Faults, o.Faults)
	if len(w.Change.Persistence)+len(o.Change.Persistence) > 0 {
		both := maps.Clone(o.Change.Persistence)
		if both == nil {
			both = map[string]sim.Persistence{}
		}
		maps.Copy(both, w.Change.Persistence)
		w.Change.Persistence = both
	}
	return w, true
}

// Key is the world as one word, for maps.
func (w World) Key() string {
	text, err := json.Marshal(w)
	if err != nil {
		panic("runs: a world cannot be written: " + err.Error()) // it has only texts and numbers
	}
	return string(text)
}
