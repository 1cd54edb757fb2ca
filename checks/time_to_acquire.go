package checks

import (
	"slices"
	"time"
)

// timeToAcquire measures the time from a client's first call of acquire for a critical section to
// the grant. A client that gave up, crashed, or was still waiting when the run ended counts
// as never granted.
var timeToAcquire = measure{
	name:     "time-to-acquire",
	title:    "time from the first call of acquire for a section to the grant",
	headline: []string{"median", "99th percentile"},
	take:     takeTimeToAcquire,
}

func takeTimeToAcquire(h *judgedRun) Measure {
	var times []time.Duration
	waits := h.waits()
	for _, w := range waits {
		if w.Granted != nil {
			times = append(times, w.Granted.At-w.Asked.At)
		}
	}
	never := len(waits) - len(times)
	switch {
	case len(waits) == 0:
		return noMeasure(nobodyAsked.Reason())
	case len(times) == 0:
		return Measure{
			Figures: []Figure{{"never granted", Count, int64(never)}},
			Summary: neverGranted.Reason(never),
		}
	}
	middle, longest := median(times), slices.Max(times)
	m := Measure{
		Figures: []Figure{
			{"median", Nanoseconds, int64(middle)},
			{"99th percentile", Nanoseconds, int64(percentile(times, 99))},
			{"longest", Nanoseconds, int64(longest)},
			{"never granted", Count, int64(never)},
		},
		Summary: medianAndLongest.Reason(middle, longest),
	}
	if never > 0 {
		m.Summary = m.Summary.And(othersNeverGranted.Reason(never))
	}
	return m
}
