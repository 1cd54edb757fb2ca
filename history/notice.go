package history

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// A Notice says how the client of a critical section learnt that the section's lease had ended or
// was about to end.
type Notice struct {
	// ShownBy is the first event since the last renewal of the lease that showed the end to
	// the client: the lock's signal, or a refusal by the lock or the storage; nil if there
	// was none.
	ShownBy *trace.Event
	// Delay is how long the client's process ran between the expiry of the lease and
	// ShownBy; 0 if the client knew in time.
	Delay time.Duration
}

// NoticeOf returns how a section's client learnt that its lease had ended. The result is nil
// if there was nothing to learn: the lease did not expire before the section ended, the lock
// did not notify of its loss, and no renewal failed. NoticeOf applies the same rules to locks
// that notify and to locks whose clients have to find out by themselves.
func (h *History) NoticeOf(s *Section) *Notice {
	last := s.Lease.Latest(Never.Seq)
	var shownBy *trace.Event
	if s.Lost != nil && s.Lost.Seq > last.Event.Seq {
		shownBy = s.Lost
	}
	for _, c := range h.CallsOf(s.Acquisition) {
		if c.Began == nil || !c.Failed() || c.Ended.Seq < last.Event.Seq || shownBy != nil && shownBy.Seq < c.Ended.Seq {
			continue
		}
		switch expired := last.Until.Before(MomentOf(c.Ended)); {
		case c.Step == trace.Extend, c.Step == trace.Check:
			shownBy = c.Ended
		case expired && (c.Step == trace.Release || c.Ended.Refused):
			shownBy = c.Ended
		}
	}
	expired := last.Until.Before(s.To) && last.Until.Before(MomentOf(h.Last()))
	switch {
	case shownBy == nil && !expired:
		return nil
	case shownBy == nil:
		return &Notice{}
	case !last.Until.Before(MomentOf(shownBy)):
		return &Notice{ShownBy: shownBy}
	case !expired: // the section had ended, and its release failed
		return nil
	}
	return &Notice{shownBy, h.runTime(s.Client, Interval{last.Until, MomentOf(shownBy)})}
}
