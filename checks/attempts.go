package checks

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// How often clients asked for the lock. An attempt that had no answer when the
// run ended has not failed.
var attempts = measure{
	name:  "attempts",
	title: "calls of acquire",
	take:  takeAttempts,
}

func takeAttempts(h *history) Measure {
	var calls, failed int64
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		switch {
		case ev.Step != trace.Acquire:
		case ev.Kind == trace.KindBegin:
			calls++
		case ev.Kind == trace.KindEnd && !ev.OK:
			failed++
		}
	}
	if calls == 0 {
		return absent("nobody asked for the lock")
	}
	return Measure{
		Figures: []Figure{{"calls", Count, calls}, {"failed", Count, failed}},
		text:    fmt.Sprintf("%d, of which %d failed", calls, failed),
	}
}
