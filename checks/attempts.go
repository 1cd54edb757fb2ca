package checks

import (
	"github.com/locksim/locksim/trace"
)

// attempts measures how often clients asked for the lock, in total and per grant. An acquire that
// has not returned at the end of the run does not count as failed.
var attempts = measure{
	name:     "attempts",
	title:    "calls of acquire",
	headline: []string{"per grant"},
	take:     takeAttempts,
}

func takeAttempts(h *judgedRun) Measure {
	var calls, failed int64
	for _, c := range h.Calls() {
		switch {
		case c.Step != trace.Acquire:
			continue
		case c.Began != nil:
			calls++
		}
		if c.Failed() {
			failed++
		}
	}
	if calls == 0 {
		return noMeasure(nobodyAsked.Reason())
	}
	m := Measure{
		Figures: []Figure{{"calls", Count, calls}, {"failed", Count, failed}},
		Summary: ofWhichFailed.Reason(calls, failed),
	}
	if granted := int64(len(h.Sections())); granted > 0 {
		m.Figures = append(m.Figures, Figure{"per grant", Hundredths, ratio(100*calls, granted)})
	}
	return m
}
