package explore

import (
	"encoding/json"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Parameters are a fault as files have it: ledgers, and the JSON of what a search found.
// Which of them it has depends on its kind.
type Parameters struct {
	sim.Parts
	// Before and When say when it strikes: before a client's step, or at a point. A
	// fault with neither strikes at the start of the run.
	Before trace.StepPoint `json:"before,omitzero"`
	When   trace.Point     `json:"when,omitzero"`
	// For is how long it lasts; 0 is for good, or no time at all.
	For time.Duration `json:"for,omitempty"`
}

// Parameters are the fault's.
func (f Fault) Parameters() Parameters {
	return Parameters{Parts: f.Parts(), Before: f.Strikes.Before, When: f.Strikes.When, For: f.For}
}

// Fault is the fault with the parameters. The error says why there is none.
func (p Parameters) Fault() (Fault, error) {
	f, err := p.Parts.Fault()
	f.Strikes, f.For = trace.Trigger{Before: p.Before, When: p.When}, p.For
	return Fault{f}, err
}

// MarshalJSON writes the fault's parameters.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.Parameters()) }

// UnmarshalJSON reads a fault's parameters, and none that it does not know.
func (f *Fault) UnmarshalJSON(text []byte) error {
	var p Parameters
	if err := strictly(text, &p); err != nil {
		return err
	}
	var err error
	*f, err = p.Fault()
	return err
}
