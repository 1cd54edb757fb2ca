package trace

import "time"

// A Trigger is when a fault strikes: at the start of the run if it is zero.
type Trigger struct {
	// At is a true time since the start of the run.
	At time.Duration `json:"at,omitempty"`
	// Before is a client's step that is about to begin.
	Before StepPoint `json:"before,omitzero"`
	// When is a point in the story.
	When Point `json:"when,omitzero"`
}

// IsZero says that it is the start of the run.
func (t Trigger) IsZero() bool { return t.At == 0 && t.Before.IsZero() && t.When.IsZero() }

// Equal says whether two triggers are the same.
func (t Trigger) Equal(o Trigger) bool {
	return t.At == o.At && t.Before == o.Before && t.When.Equal(o.When)
}

// String tells when the fault strikes.
func (t Trigger) String() string {
	switch {
	case !t.Before.IsZero():
		return "before " + t.Before.String()
	case !t.When.IsZero():
		return t.When.Told()
	case t.At != 0:
		return "at " + t.At.String()
	}
	return "at the start"
}
