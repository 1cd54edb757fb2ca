package checks

import (
	"fmt"
	"slices"
	"time"

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

func takeTimeToAcquire(h *history) Measure {
	waiting := map[string]*trace.Event{} // each client's first call
	waits := 0
	var times []time.Duration
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		switch {
		case ev.Step != trace.Acquire:
		case ev.Kind == trace.KindBegin && waiting[ev.Process] == nil:
			waiting[ev.Process] = ev
			waits++
		case ev.Kind == trace.KindEnd && ev.OK && waiting[ev.Process] != nil:
			times = append(times, ev.At-waiting[ev.Process].At)
			delete(waiting, ev.Process)
		}
	}
	never := waits - len(times)
	switch {
	case waits == 0:
		return absent("nobody asked for the lock")
	case len(times) == 0:
		return Measure{
			Figures: []Figure{{"never granted", Count, int64(never)}},
			text:    fmt.Sprintf("%d never granted", never),
		}
	}
	middle, longest := median(times), slices.Max(times)
	m := Measure{
		Figures: []Figure{
			{"median", Nanoseconds, int64(middle)},
			{"longest", Nanoseconds, int64(longest)},
			{"never granted", Count, int64(never)},
		},
		text: fmt.Sprintf("median %s, longest %s", brief(middle), brief(longest)),
	}
	if never > 0 {
		m.text += fmt.Sprintf(", %d never granted", never)
	}
	return m
}
