package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	if err := Strictly(text, &p); err != nil {
		return err
	}
	var err error
	*f, err = p.Fault()
	return err
}

// Strictly reads one line of JSON without any field that v does not have.
func Strictly(line []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something follows it on the line")
	}
	return nil
}
