package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// OncePerPeriod is about a job that is to be run once in each period of a schedule. It is violated
// when two critical sections for the same period both ran the job: a write of each was applied. The
// period of a section is the one that its client named when it asked for the lock, not the one in
// which it worked. A period for which no section ran the job is missed (see [Verdict.Missed]),
// which is no violation. Only a run with a schedule is judged, and only if its jobs may not be
// repeated.
const OncePerPeriod Property = "once-per-period"

var oncePerPeriod = property{
	Card: Card{
		Property: OncePerPeriod, Subject: SubjectData, Gravity: 4,
		Title:  "no job is run twice for one period",
		Broken: "a job is run twice for one period",
		Label:  "twice", Meaning: "a job is run twice for one period",
	},
	judge:     judgeOncePerPeriod,
	appliesTo: func(h *judgedRun) bool { return h.Trace.Schedule != nil },
}

func judgeOncePerPeriod(h *judgedRun) Finding {
	if h.Trace.Schedule.Repeatable {
		return notApplicable(twiceIsHarmless.Reason())
	}
	var verdict Finding
	for _, lock := range h.Trace.Locks {
		for period := 1; period <= h.Trace.Schedule.Periods; period++ {
			if runs := h.PeriodRuns(lock.Name, period); len(runs) > 1 {
				verdict = worse(verdict, h.ranTwiceFinding(runs[0], runs[1], period))
			}
		}
	}
	if verdict.Outcome == Violated {
		return verdict
	}
	return holds()
}

// ranTwiceFinding returns the finding that two sections ran the job for the same period.
// The first write of a was applied before that of b.
func (h *judgedRun) ranTwiceFinding(a, b *history.Section, period int) Finding {
	first, second := a.Effects()[0], b.Effects()[0]
	f := Finding{Outcome: Violated, At: second.Seq, Events: []int{first.Seq, second.Seq}}
	f.Reason = ranTwice.Reason(h.Name(b), period, second.Makes.Made.At, h.Name(a), first.Makes.Made.At)
	if s := history.Later(a.From, b.From); s.Before(a.To) && s.Before(b.To) {
		younger, older := b, a
		if b.From.Before(a.From) {
			younger, older = a, b
		}
		f.Blame, f.Reason = h.blameForSections(older, younger, f.Reason)
		return f
	}
	f.Reason = f.Reason.And(notOverlapping.Reason())
	return f
}

// A MissedPeriod is a period of the schedule for which no section ran the job.
type MissedPeriod struct {
	// Lock is the lock of the job; it identifies the job.
	Lock   string
	Period int
	Reason Reason
}

// missedPeriods lists the periods that have begun and for which no section ran the job.
func (h *judgedRun) missedPeriods() []MissedPeriod {
	var all []MissedPeriod
	for _, lock := range h.Trace.Locks {
		for _, begun := range h.Periods() {
			if len(h.PeriodRuns(lock.Name, begun.Period)) > 0 {
				continue
			}
			reason := nobodyRan.Reason(begun.Period, begun.At)
			if len(h.Trace.Locks) > 1 {
				reason = nobodyRanOf.Reason(begun.Period, lock.Name, begun.At)
			}
			sections := slices.DeleteFunc(slices.Clone(h.Sections()), func(s *history.Section) bool {
				return s.Lock != lock.Name || s.Period != begun.Period || s.CutShort() == ""
			})
			for _, s := range sections {
				reason = reason.And(hadBegun.Reason(h.Name(s), s.CutShort()))
			}
			all = append(all, MissedPeriod{lock.Name, begun.Period, reason})
		}
	}
	return all
}

// A RepeatedPeriod is a period of the schedule for which a job has been run more than once. It is
// reported only for jobs that may be repeated. If another job is run twice, [OncePerPeriod] is
// violated.
type RepeatedPeriod struct {
	Lock   string
	Period int
	// Runs is how often the job was run. Wasted is how long all runs but the first took,
	// from the grant to the last effect.
	Runs   int
	Wasted time.Duration
	Reason Reason
}

// repeatedPeriods lists the periods for which a job was run more than once. The list is empty
// if the jobs may not be repeated.
func (h *judgedRun) repeatedPeriods() []RepeatedPeriod {
	var all []RepeatedPeriod
	for _, lock := range h.Trace.Locks {
		for period := 1; h.Trace.Schedule.Repeatable && period <= h.Trace.Schedule.Periods; period++ {
			runs := h.PeriodRuns(lock.Name, period)
			if len(runs) < 2 {
				continue
			}
			wasted := time.Duration(0)
			for _, s := range runs[1:] {
				effects := s.Effects()
				wasted += effects[len(effects)-1].Makes.Made.At - s.From.At
			}
			all = append(all, RepeatedPeriod{lock.Name, period, len(runs), wasted, ranInVain.Reason(period, len(runs), wasted)})
		}
	}
	return all
}
