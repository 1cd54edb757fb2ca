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
	// Text is a scenario file with one variant. Its faults and the fields in which it
	// describes itself are left out.
	Text []byte `json:"text"`
	// Kind is a kind of lock that need not be registered, to use in place of the file's
	// kind; a zero Kind is none.
	Kind locks.Kind `json:"-"`
	// Programs replace the critical sections of some clients, by name. No file can contain
	// a program, so a way that is found with programs has no file. Like Kind, programs
	// cannot be sent to another process.
	Programs map[string]Program `json:"-"`
	// Config, if not nil, makes the worlds without faults in place of Text. Like Kind, it
	// cannot be sent to another process.
	Config func(fencing string) (sim.Config, error) `json:"-"`
	// Seed selects the latencies and every random value.
	Seed uint64 `json:"seed"`
}

// A Program is what a client does; see [sim.Client].
type Program = func(context.Context, *sim.Program) error

// Variant parses the base's text.
func (b Base) Variant() (*scenarios.Variant, error) { return ParseOne(b.Name, b.Text) }

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

// A WorldSpec describes a world: a base with faults. Its zero value is the first base as it
// is.
type WorldSpec struct {
	// Base is the index of the base in the list of bases.
	Base   int     `json:"base,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
	// Change is how the world differs from its base, in addition to the faults.
	Change scenarios.Change `json:"change,omitzero"`
}

// WithFaults returns the world with other faults. It drops the persistence of nodes that
// none of these faults crashes, because it makes no difference there.
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

// WithFaultsOf returns the world with the faults of another world of the same base added.
// It returns false if they cannot be combined: a node has only one persistence, and a fault
// cannot occur twice. The two worlds must differ from the base only in faults and
// persistence.
func (w WorldSpec) WithFaultsOf(o WorldSpec) (WorldSpec, bool) {
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

// Key returns the world as one string, for maps.
func (w WorldSpec) Key() string {
	text, err := json.Marshal(w)
	if err != nil {
		panic("runs: cannot encode a world as JSON: " + err.Error()) // it has only texts and numbers
	}
	return string(text)
}
