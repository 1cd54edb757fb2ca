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
	// Name distinguishes the bases of a search.
	Name string `json:"name"`
	// Text is a scenario file with one variant, without faults and without the fields in
	// which a scenario describes itself.
	Text []byte `json:"text"`
	// Kind is the kind of lock to use in place of the kind that the file names. It need not
	// be registered. A zero Kind replaces nothing.
	Kind locks.Kind `json:"-"`
	// Programs replace the critical sections of some clients, by the client's name. A
	// scenario file cannot contain a program, so a world with programs cannot be written as
	// a file. Programs and Kind cannot be sent to another process.
	Programs map[string]Program `json:"-"`
	// Config, if not nil, makes the configurations without faults in place of Text. It
	// cannot be sent to another process.
	Config func(fencing string) (sim.Config, error) `json:"-"`
	// Seed is the number from which the latencies and every random value follow.
	Seed uint64 `json:"seed"`
}

// A Program is what a client does, written in Go; see [sim.Client].
type Program = func(context.Context, *sim.Program) error

// Variant parses the base's text.
func (base Base) Variant() (*scenarios.Variant, error) { return ParseOne(base.Name, base.Text) }

// ParseOne parses a scenario that has no variants.
func ParseOne(name string, text []byte) (*scenarios.Variant, error) {
	s, err := scenarios.Parse(name+".yaml", text)
	if err != nil {
		return nil, err
	}
	if len(s.Variants) != 1 {
		return nil, fmt.Errorf("%s has %d variants; a base must have exactly one", name, len(s.Variants))
	}
	return s.Variants[0], nil
}

// A WorldSpec describes a world: a base with faults. Its zero value is the first base
// without faults.
type WorldSpec struct {
	// Base is the index of the base in the list of bases.
	Base   int     `json:"base,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
	// Change is how the world differs from its base in other ways than by faults.
	Change scenarios.Change `json:"change,omitzero"`
}

// WithFaults returns the world with other faults. The persistence of a node, which is how
// it writes to its disk, makes a difference only if a fault crashes the node. WithFaults
// drops the persistence of all other nodes.
func (w WorldSpec) WithFaults(faults ...Fault) WorldSpec {
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

// WithFaultsOf returns the world with the faults of o added. o is another world of the same base.
// WithFaultsOf returns false if the faults cannot be combined, because a fault would occur twice,
// or because they need different persistences of one node. The two worlds must differ from the base
// only in faults and persistence.
func (w WorldSpec) WithFaultsOf(o WorldSpec) (WorldSpec, bool) {
	for _, f := range o.Faults {
		if slices.ContainsFunc(w.Faults, f.Equal) {
			return w, false
		}
	}
	for node, persistence := range o.Change.Persistence {
		if existing, ok := w.Change.Persistence[node]; ok && existing != persistence {
			return w, false
		}
	}
	w.Faults = slices.Concat(w.Faults, o.Faults)
	if len(w.Change.Persistence)+len(o.Change.Persistence) > 0 {
		merged := maps.Clone(o.Change.Persistence)
		if merged == nil {
			merged = map[string]sim.Persistence{}
		}
		maps.Copy(merged, w.Change.Persistence)
		w.Change.Persistence = merged
	}
	return w, true
}

// Key returns a string that is equal only for equal worlds, for use as the key of a map.
func (w WorldSpec) Key() string {
	text, err := json.Marshal(w)
	if err != nil {
		panic("runs: cannot encode a world as JSON: " + err.Error()) // a world has only texts and numbers, which JSON can encode
	}
	return string(text)
}
