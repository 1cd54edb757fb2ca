package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// waitAfterCrash measures how long a dead holder keeps the other clients from the lock: from the
// crash or hang of a client that held the lock until the next client is granted it. A client hangs
// if it was paused and never resumed, or never left a step of its critical section.
var waitAfterCrash = measure{
	name:     "wait-after-crash",
	title:    "time from the crash or hang of the lock's holder to the grant of another client",
	headline: []string{"longest"},
	take:     takeWaitAfterCrash,
}

func takeWaitAfterCrash(h *judgedRun) Measure {
	var times []time.Duration
	never, last := 0, "" // last is the client after whose death nobody was granted the lock
	deaths := h.ClientStops()
	for _, s := range h.Sections() {
		death := deaths[s.Client]
		if !diedIn(s, death) {
			continue
		}
		if next := h.nextSection(s, death); next != nil {
			times = append(times, next.From.At-death.At)
			continue
		}
		never++
		last = s.Client
	}
	dead := len(times) + never
	switch {
	case dead == 0:
		return noMeasure(nobodyDied.Reason())
	case len(times) == 0:
		return noMeasure(nobodyGrantedAfter.Reason(last))
	}
	longest := slices.Max(times)
	m := Measure{
		Figures: []Figure{
			{"longest", Nanoseconds, int64(longest)},
			{"dead holders", Count, int64(dead)},
			{"never granted", Count, int64(never)},
		},
		Summary: plainValue.Reason(longest),
	}
	if dead > 1 {
		m.Summary = longestOfDead.Reason(longest, dead)
	}
	if never > 0 {
		m.Summary = m.Summary.And(othersNeverGranted.Reason(never))
	}
	return m
}

// diedIn reports whether a client died in a section while it held the lock. death is the
// event of its crash or hang; nil if it did not die.
func diedIn(s *history.Section, death *trace.Event) bool {
	if death == nil || s.Lease.End().Before(history.MomentOf(death)) {
		return false
	}
	return death.Kind != trace.KindBegin || s.To == history.Never
}

// nextSection returns the first section of the same lock that was granted after an event;
// nil if there is none.
func (h *judgedRun) nextSection(s *history.Section, after *trace.Event) *history.Section {
	for _, o := range h.Sections() {
		if o.Lock == s.Lock && history.MomentOf(after).Before(o.From) {
			return o
		}
	}
	return nil
}
