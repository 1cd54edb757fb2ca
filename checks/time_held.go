package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// timeHeld measures how long clients hold the lock, and how close they come to the lease's end. Its
// figures are the median and the longest time that a client is in its critical section, the longest
// as a share of the lock's TTL, and the least time that was left of a lease at its release. A section that had not ended when the run ended is left out. For a lease that ended
// before its release, the time left is negative.
var timeHeld = measure{
	name:     "time-held",
	title:    "time from the grant to the end of the section, and what was left of the lease at the release",
	headline: []string{"of the TTL", "least left"},
	take:     takeTimeHeld,
}

func takeTimeHeld(h *judgedRun) Measure {
	var held, left []time.Duration
	var share int64 // per cent
	for _, s := range h.Sections() {
		if s.To == history.Never {
			continue
		}
		took := s.To.At - s.From.At
		held = append(held, took)
		if ttl := h.Lock(s.Lock).TTL; ttl > 0 {
			share = max(share, ratio(100*int64(took), int64(ttl)))
		}
		if s.Released == nil {
			continue
		}
		if last := s.Lease.Latest(s.Released.Seq); last.Until.At != history.Forever {
			left = append(left, last.Until.At-s.Released.At)
		}
	}
	if len(held) == 0 {
		return noMeasure(noSectionEnded.Reason())
	}
	middle, longest := median(held), slices.Max(held)
	m := Measure{
		Figures: []Figure{{"median", Nanoseconds, int64(middle)}, {"longest", Nanoseconds, int64(longest)}},
		Summary: medianAndLongest.Reason(middle, longest),
	}
	if share > 0 {
		m.Figures = append(m.Figures, Figure{"of the TTL", Percent, share})
		m.Summary = m.Summary.And(ofTheTTL.Reason(share))
	}
	if len(left) > 0 {
		least := slices.Min(left)
		m.Figures = append(m.Figures, Figure{"least left", Nanoseconds, int64(least)})
		m.Summary = m.Summary.And(leastLeft.Reason(least))
	}
	return m
}
