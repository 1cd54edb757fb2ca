package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// schedule returns the schedule of the world, which divides the time into periods; nil if there is
// none.
func (cfg *Config) schedule() *trace.Schedule {
	if cfg.Schedule.Periods == 0 {
		return nil
	}
	s := cfg.Schedule
	return &s
}

// CheckSchedule returns an error if the schedule is invalid, or if the world's schedule, or
// the lack of one, makes a client's tasks impossible.
func (cfg *Config) CheckSchedule() error {
	s := cfg.schedule()
	if s != nil {
		if err := s.Check(); err != nil {
			return err
		}
	}
	for _, c := range cfg.Clients {
		for _, t := range c.Does {
			switch {
			case t.Note == "" && s != nil && t.Object == trace.PeriodRecord:
				return fmt.Errorf("%s would %s, but %s is the record of periods: only recall, remember and claim can use it", c.Name, t, trace.PeriodRecord)
			case t.Note == "":
			case s == nil:
				return fmt.Errorf("%s would %s a period, but there is no schedule", c.Name, t.Note)
			case cfg.Storage.InCluster || cfg.Lock.Kind.KeepsData:
				return fmt.Errorf("%s would %s a period, which needs a storage that is a process of its own", c.Name, t.Note)
			}
		}
		if s != nil && c.Sections > 1 {
			return fmt.Errorf("%s has %d sections, but with a schedule a client has one section in each period", c.Name, c.Sections)
		}
	}
	return nil
}

// runJobs runs one critical section for each period that the client's wall clock shows. If the
// client does not get the lock, it skips the period: it assumes that another client is
// doing the job.
func (g *program) runJobs() error {
	var lastErr error
	for lastPeriod := g.w.cfg.Schedule.Periods; g.period < lastPeriod; {
		if err := g.awaitPeriod(); err != nil {
			return errEnded
		}
		if g.period > lastPeriod {
			break
		}
		if err := g.runJob(); errors.Is(err, errEnded) {
			return err
		} else if err != nil {
			lastErr = err
		}
	}
	return lastErr
}

// awaitPeriod waits until the client's wall clock shows a later period than g.period, and sets
// g.period to the period that the clock then shows.
func (g *program) awaitPeriod() error {
	s := g.w.cfg.Schedule
	for {
		wallTime := time.Duration(g.env.Clock.Read(fakeclock.Wall).Nanos - g.w.runStart.UnixNano())
		if period := s.PeriodAt(wallTime); period > g.period {
			g.period = period
			return nil
		}
		if err := g.env.Clock.Sleep(g.ctx, s.PeriodStart(g.period+1)-wallTime); err != nil {
			return err
		}
	}
}

// runJob runs the client's section for one period. If the storage refuses a request of the section,
// a client that starts over (see [Client.StartsOver]) runs the section again.
func (g *program) runJob() error {
	for {
		granted, err := g.runSection()
		if g.ctx.Err() != nil {
			return errEnded
		}
		if !granted {
			return nil
		}
		if !g.shouldStartOver(err) {
			return err
		}
	}
}

// keepLock waits, after the client's tasks, until the client has held the lock for
// KeepsFor.
func (section *Section) keepLock() {
	g := section.g
	if heldFor := g.env.Clock.Read(fakeclock.Monotonic).Sub(section.grantedAt); heldFor < g.cfg.KeepsFor {
		_ = g.env.Clock.Sleep(g.ctx, g.cfg.KeepsFor-heldFor) // at the end of the run the sleep fails, and the lock is released anyway
	}
}

// schedulePeriods makes the loop record an event at the true time at which each period begins.
func (w *World) schedulePeriods() {
	s := w.cfg.Schedule
	for k := 1; k <= s.Periods; k++ {
		recordBegin := func() { w.emit(trace.Event{Kind: trace.KindPeriod, Period: k}) }
		if s.PeriodStart(k) <= w.now() {
			recordBegin()
			continue
		}
		w.schedule(s.PeriodStart(k), recordBegin)
	}
}
