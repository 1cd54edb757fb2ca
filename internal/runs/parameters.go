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

// Parameters describe a fault in JSON: in ledgers, and in the result of a search. Which of
// them are set depends on the kind of fault.
type Parameters struct {
	sim.Parts
	// Before and When say when the fault strikes: before a step of a client, or at a point.
	// If both are zero, it strikes at the start of the run.
	Before trace.StepPoint `json:"before,omitzero"`
	When   trace.Point     `json:"when,omitzero"`
	// For is how long the fault lasts. 0 is forever; an instant fault always has 0.
	For time.Duration `json:"for,omitempty"`
}

// Parameters returns the fault's parameters.
func (f Fault) Parameters() Parameters {
	return Parameters{Parts: f.Parts(), Before: f.Strikes.Before, When: f.Strikes.When, For: f.For}
}

// Fault returns the fault that the parameters describe, or an error if they describe none.
func (p Parameters) Fault() (Fault, error) {
	f, err := p.Parts.Fault()
	f.Strikes, f.For = trace.Trigger{Before: p.Before, When: p.When}, p.For
	return Fault{f}, err
}

// MarshalJSON writes the fault's parameters.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.Parameters()) }

// UnmarshalJSON reads a fault's parameters, and refuses unknown ones.
func (f *Fault) UnmarshalJSON(text []byte) error {
	var p Parameters
	if err := DecodeStrictly(text, &p); err != nil {
		return err
	}
	var err error
	*f, err = p.Fault()
	return err
}

// DecodeStrictly decodes one line of JSON into v. It refuses fields that v does not have.
func DecodeStrictly(line []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("the line has more text after the JSON value")
	}
	return nil
}
