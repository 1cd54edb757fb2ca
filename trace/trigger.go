package trace

import "time"

// A Trigger is the condition on which a fault strikes. The zero Trigger means the start of
// the run.
type Trigger struct {
	// At is a true time since the start of the run.
	At time.Duration `json:"at,omitempty"`
	// Before is a client's step: the fault strikes just before the step begins.
	Before StepPoint `json:"before,omitzero"`
	// When is the point at which the fault strikes.
	When Point `json:"when,omitzero"`
}

// IsZero reports whether the trigger is the start of the run.
func (t Trigger) IsZero() bool { return t.At == 0 && t.Before.IsZero() && t.When.IsZero() }

// Equal reports whether two triggers are the same.
func (t Trigger) Equal(o Trigger) bool {
	return t.At == o.At && t.Before == o.Before && t.When.Equal(o.When)
}

// String returns when the fault strikes, in words.
func (t Trigger) String() string {
	switch {
	case !t.Before.IsZero():
		return "before " + t.Before.String()
	case !t.When.IsZero():
		return t.When.Phrase()
	case t.At != 0:
		return "at " + t.At.String()
	}
	return "at the start"
}
