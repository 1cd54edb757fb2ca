package history

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// A lock that tells of losses owes its signal by the lease's end.

// AtOnce is how much time there can be between a moment and what somebody does at once: a
// world has each event at a nanosecond of its own.
const AtOnce = time.Microsecond

// Heeds reports whether a section's lock tells of its loss, and its client does not begin a
// write once it is told.
func (h *History) Heeds(s *Section) bool {
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

// Untold is for how long, during an interval, a section's lease had ended by its time, and
// its process ran and had not been told; 0 if it was told at once, or has no lock that
// tells.
func (h *History) Untold(s *Section, during Interval) time.Duration {
	if !s.Notifies {
		return 0
	}
	end, last := s.Lease.Latest(Never.Seq).Until, MomentOf(h.Last())
	untold := Interval{Later(during.From, end), Earlier(during.To, Earlier(s.To, last))}
	if s.Lost != nil {
		untold.To = Earlier(untold.To, MomentOf(s.Lost))
	}
	if !untold.From.Before(untold.To) {
		return 0
	}
	return h.awake(s.Client, untold)
}

// awake is for how long a process ran during an interval, its pauses taken off; 0 if it ran
// no longer than it takes to do something at once.
func (h *History) awake(process string, during Interval) time.Duration {
	ran := during.To.At - during.From.At
	for _, spell := range h.Spells() {
		if p := spell.During(); spell.Process == process && spell.State == Paused {
			from, to := Later(p.From, during.From), Earlier(p.To, during.To)
			if from.Before(to) {
				ran -= to.At - from.At
			}
		}
	}
	if ran <= AtOnce {
		return 0
	}
	return ran
}

// ToldLate is how much too late a section was told of the loss of its lease: from the
// lease's end to the signal, less the time that its process was paused; 0 if it was told in
// time, or never.
func (h *History) ToldLate(s *Section) time.Duration {
	if s.Lost == nil {
		return 0
	}
	return h.Untold(s, Interval{s.From, MomentOf(s.Lost)})
}
