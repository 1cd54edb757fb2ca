package trace

import (
	"fmt"
	"time"
)

// A Schedule says when a job has to be run: once in each period. Each lock of a world
// belongs to one job.
type Schedule struct {
	// First is when the first period begins, in true time since the start of the run. A
	// client that reads its own clock believes that the period begins when that clock shows
	// this time.
	First time.Duration `json:"first"`
	// Every is the length of each period, and Periods is their number, at least 1.
	Every   time.Duration `json:"every"`
	Periods int           `json:"periods"`
	// Repeatable says that running a job twice for one period does no harm.
	Repeatable bool `json:"repeatable,omitempty"`
}

// PeriodRecord is the object in which clients record which periods have been run. A write
// to it does not count as work of the job.
const PeriodRecord = "runs"

// MaxPeriods is the largest number of periods of a schedule.
const MaxPeriods = 1000

// Check returns an error if the schedule is not valid.
func (s Schedule) Check() error {
	switch {
	case s.First < 0 || s.First > maxTime:
		return fmt.Errorf("the first period begins at %v; it must begin between 0s and %v", s.First, maxTime)
	case s.Every <= 0 || s.Every > maxTime:
		return fmt.Errorf("a period lasts %v; it must last more than 0s and at most %v", s.Every, maxTime)
	case s.Periods < 1 || s.Periods > MaxPeriods:
		return fmt.Errorf("there are %d periods; there can be 1 to %d", s.Periods, MaxPeriods)
	}
	return nil
}

// PeriodStart returns when a period begins, in true time since the start of the run.
// Periods are numbered from 1.
func (s Schedule) PeriodStart(period int) time.Duration {
	return s.First + time.Duration(period-1)*s.Every
}

// PeriodAt returns the number of the period in which a time lies. It is 0 before the first period,
// and more than Periods after the last one.
func (s Schedule) PeriodAt(at time.Duration) int {
	if at < s.First {
		return 0
	}
	return int(min((at-s.First)/s.Every, MaxPeriods)) + 1
}
