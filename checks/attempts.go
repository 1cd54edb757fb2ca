package checks

import (
	"github.com/locksim/locksim/trace"
)

// How often clients asked for the lock. An attempt that had no answer when the
// run ended has not failed.
var attempts = measure{
	name:  "attempts",
	title: "calls of acquire",
	take:  takeAttempts,
}

func takeAttempts(h *inquiry) Measure {
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
		return absent(NobodyAsked)
	}
	return Measure{
		Figures: []Figure{{"calls", Count, calls}, {"failed", Count, failed}},
		Says:    Because(OfWhichFailed, calls, failed),
	}
}
