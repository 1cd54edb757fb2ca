package history

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// A lock that notifies its clients must send its signal before the lease ends. This file
// computes by how much a signal was too late.

// ImmediateWithin is the longest time after a moment within which a reaction counts as immediate.
// It is not 0, because in a simulation each event has a nanosecond of its own.
const ImmediateWithin = time.Microsecond

// StopsWhenNotified reports whether a critical section's lock notifies of a loss, and its client
// begins no write after it has been notified.
func (h *History) StopsWhenNotified(s *Section) bool {
	if !s.Notifies {
		return false
	}
	for _, c := range h.CallsOf(s.Acquisition) {
		if s.Lost != nil && c.Step == trace.Write && c.Began != nil && c.Began.Seq > s.Lost.Seq {
			return false
		}
	}
	return true
}

// UnnotifiedFor returns for how long, during an interval, a section's lease had expired and
// its client's process was running without having been notified. It is 0 if the client was
// notified immediately, or if the lock does not notify.
func (h *History) UnnotifiedFor(s *Section, during Interval) time.Duration {
	if !s.Notifies {
		return 0
	}
	end, last := s.Lease.Latest(Never.Seq).Until, MomentOf(h.Last())
	unnotified := Interval{Later(during.From, end), Earlier(during.To, Earlier(s.To, last))}
	if s.Lost != nil {
		unnotified.To = Earlier(unnotified.To, MomentOf(s.Lost))
	}
	if !unnotified.From.Before(unnotified.To) {
		return 0
	}
	return h.runTime(s.Client, unnotified)
}

// runTime returns for how long a process ran during an interval, without its pauses. It is
// 0 if the process did not run for longer than [ImmediateWithin].
func (h *History) runTime(process string, during Interval) time.Duration {
	ran := during.To.At - during.From.At
	for _, spell := range h.Spells() {
		if p := spell.Interval(); spell.Process == process && spell.State == Paused {
			from, to := Later(p.From, during.From), Earlier(p.To, during.To)
			if from.Before(to) {
				ran -= to.At - from.At
			}
		}
	}
	if ran <= ImmediateWithin {
		return 0
	}
	return ran
}

// NotifiedLate returns how much too late a section's client was notified of the loss of its
// lease: the time from the lease's end to the signal, without the pauses of its process. No
// time counts after the section has ended. It is 0 if the client was notified in time, or
// never.
func (h *History) NotifiedLate(s *Section) time.Duration {
	if s.Lost == nil {
		return 0
	}
	return h.UnnotifiedFor(s, Interval{s.From, MomentOf(s.Lost)})
}
