package history

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// A Notice is how the client of a section learnt that its lease was over, or was about to
// be.
type Notice struct {
	// By is the first event that said so since the lease was last prolonged: the lock's
	// signal, or that it or the storage refused something. Nil is that nothing did.
	By *trace.Event
	// Late is for how long the lease had ended by its time, and the client's process ran,
	// until then; 0 if it knew in time.
	Late time.Duration
}

// Noticed is how a section's client learnt that its lease was over: one that had ended by
// its time when the section had not, of which the lock told that it is lost, or that could
// not be prolonged. Nil is that it was none of these. Locks that tell of a loss and locks
// whose client has to find out are measured alike.
func (h *History) Noticed(s *Section) *Notice {
	last := s.Lease.Latest(Never.Seq)
	var by *trace.Event
	if s.Lost != nil && s.Lost.Seq > last.Event.Seq {
		by = s.Lost
	}
	for _, c := range h.CallsOf(s.Acquisition) {
		if c.Began == nil || !c.Failed() || c.Ended.Seq < last.Event.Seq || by != nil && by.Seq < c.Ended.Seq {
			continue
		}
		switch over := last.Until.Before(MomentOf(c.Ended)); {
		case c.Step == trace.Extend, c.Step == trace.Check:
			by = c.Ended
		case over && (c.Step == trace.Release || c.Ended.Refused):
			by = c.Ended
		}
	}
	over := last.Until.Before(s.To) && last.Until.Before(MomentOf(h.Last()))
	switch {
	case by == nil && !over:
		return nil
	case by == nil:
		return &Notice{}
	case !last.Until.Before(MomentOf(by)):
		return &Notice{By: by}
	case !over: // the section was over, and its release failed
		return nil
	}
	return &Notice{by, h.awake(s.Client, Interval{last.Until, MomentOf(by)})}
}
