package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// From a client's first call of acquire for a section to the grant. A client
// that gave up, crashed, or was still at it when the run ended was never granted
// the lock.
var timeToAcquire = measure{
	name:  "time-to-acquire",
	title: "from the first call of acquire for a section until the grant",
	take:  takeTimeToAcquire,
}

func takeTimeToAcquire(h *inquiry) Measure {
	waiting := map[string]*history.Call{} // each client's first call
	waits := 0
	var times []time.Duration
	for _, call := range h.Calls() {
		if call.Step != trace.Acquire {
			continue
		}
		if call.Began != nil && waiting[call.Client] == nil {
			waiting[call.Client] = call
			waits++
		}
		if first := waiting[call.Client]; call.OK() && first != nil {
			times = append(times, call.Ended.At-first.Began.At)
			delete(waiting, call.Client)
		}
	}
	never := waits - len(times)
	switch {
	case waits == 0:
		return absent(NobodyAsked)
	case len(times) == 0:
		return Measure{
			Figures: []Figure{{"never granted", Count, int64(never)}},
			Says:    Because(NeverGranted, never),
		}
	}
	middle, longest := median(times), slices.Max(times)
	m := Measure{
		Figures: []Figure{
			{"median", Nanoseconds, int64(middle)},
			{"longest", Nanoseconds, int64(longest)},
			{"never granted", Count, int64(never)},
		},
		Says: Because(MedianAndLongest, middle, longest),
	}
	if never > 0 {
		m.Says = m.Says.And(OthersNeverGranted, never)
	}
	return m
}
