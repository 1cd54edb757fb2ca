package checks

import (
	"slices"
	"time"
)

// lossNoticed measures how long a client believes that it holds a lock that it has lost. That is
// the time from the expiry of the lease until the lock's signal, or the first refusal, shows the
// loss to the client. The pauses of the client's process do not count. If the client noticed the
// loss before the expiry, the time is 0.
var lossNoticed = measure{
	name:     "loss-noticed",
	title:    "time from the end of a lease until its holder noticed it, without the holder's pauses",
	headline: []string{"longest", "never noticed"},
	take:     takeLossNoticed,
}

func takeLossNoticed(h *judgedRun) Measure {
	var delays []time.Duration
	losses := 0
	for _, s := range h.Sections() {
		n := h.NoticeOf(s)
		if n == nil {
			continue
		}
		losses++
		if n.ShownBy != nil {
			delays = append(delays, n.Delay)
		}
	}
	never := losses - len(delays)
	if losses == 0 {
		return noMeasure(nothingLost.Reason())
	}
	var m Measure
	if len(delays) > 0 {
		middle, longest := median(delays), slices.Max(delays)
		m.Figures = []Figure{{"median", Nanoseconds, int64(middle)}, {"longest", Nanoseconds, int64(longest)}}
		m.Summary = medianAndLongest.Reason(middle, longest)
		if never > 0 {
			m.Summary = m.Summary.And(othersNeverNoticed.Reason(never))
		}
	} else {
		m.Summary = neverNoticed.Reason(never)
	}
	m.Figures = append(m.Figures, Figure{"losses", Count, int64(losses)}, Figure{"never noticed", Count, int64(never)})
	return m
}
