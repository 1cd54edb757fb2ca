package trace

import (
	"fmt"
	"time"
)

// A Schedule says when a job is due: once in each period. Each lock of a world is one job.
type Schedule struct {
	// First is when the first period begins, in true time since the start of the run. Who
	// looks at a clock of its own believes it to begin when that shows as much.
	First time.Duration `json:"first"`
	// Every is how long each period lasts, and Periods how many there are, from 1.
	Every   time.Duration `json:"every"`
	Periods int           `json:"periods"`
	// Repeatable says that it does no harm if a job is run twice for one period.
	Repeatable bool `json:"repeatable,omitempty"`
}

// Record is the object in which clients put down which periods have been run. What they
// write there is no effect of the job.
const Record = "runs"

// MostPeriods is how many periods a schedule can have.
const MostPeriods = 1000

// Check says what is wrong with a schedule; nil if nothing is.
func (s Schedule) Check() error {
	switch {
	case s.First < 0 || s.First > longest:
		return fmt.Errorf("the first period begins at %v", s.First)
	case s.Every <= 0 || s.Every > longest:
		return fmt.Errorf("a period lasts %v", s.Every)
	case s.Periods < 1 || s.Periods > MostPeriods:
		return fmt.Errorf("there are %d periods, and there can be 1 to %d", s.Periods, MostPeriods)
	}
	return nil
}

// Begins is when a period begins, from 1.
func (s Schedule) Begins(period int) time.Duration {
	return s.First + time.Duration(period-1)*s.Every
}

// At is the period in which a moment is: 0 before the first, and more than there are after
// the last.
func (s Schedule) At(at time.Duration) int {
	if at < s.First {
		return 0
	}
	return int(min((at-s.First)/s.Every, MostPeriods)) + 1
}
