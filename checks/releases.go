package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// releases measures how often release was called, how often it failed, and how often there was
// nothing to release: none of the keys in which the lock kept the grant existed when release was
// called. The last figure is left out if it is not known in which keys a lock keeps its grants.
var releases = measure{
	name:     "releases",
	title:    "calls of release, and how many of them failed or found nothing to release",
	headline: []string{"found nothing"},
	take:     takeReleases,
}

func takeReleases(h *judgedRun) Measure {
	var calls, failed, foundNone int64
	known := true
	for _, c := range h.Calls() {
		s := h.Section(c.Acquisition)
		if c.Step != trace.Release || c.Began == nil || s == nil {
			continue
		}
		calls++
		if c.Failed() {
			failed++
		}
		slots := h.Lock(s.Lock).Slots
		known = known && len(slots) > 0
		existed := func(k *history.Holding) bool {
			own := func(slot trace.SlotInfo) bool { return slot.Key == k.Key }
			return slices.ContainsFunc(slots, own) && k.Existence().Contains(history.MomentOf(c.Began))
		}
		if !slices.ContainsFunc(h.HoldingsOf(c.Acquisition), existed) {
			foundNone++
		}
	}
	if calls == 0 {
		return noMeasure(nothingReleased.Reason())
	}
	m := Measure{
		Figures: []Figure{{"calls", Count, calls}, {"failed", Count, failed}},
		Summary: ofWhichFailed.Reason(calls, failed),
	}
	if known {
		m.Figures = append(m.Figures, Figure{"found nothing", Count, foundNone})
		m.Summary = m.Summary.And(foundNothing.Reason(foundNone))
	}
	return m
}
