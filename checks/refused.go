package checks

import (
	"github.com/locksim/locksim/trace"
)

// refused measures how many requests the storage refuses, because of a fencing token that
// they carried or did not carry.
var refused = measure{
	name:     "refused",
	title:    "requests that the storage refused",
	headline: []string{"refused"},
	take:     takeRefused,
}

func takeRefused(h *inquiry) Measure {
	served, turnedAway := map[trace.Step]int64{}, map[trace.Step]int64{}
	var all, denied int64
	for _, ev := range h.ServedRequests() {
		served[ev.Step]++
		all++
		if !ev.OK {
			turnedAway[ev.Step]++
			denied++
		}
	}
	if all == 0 {
		return noMeasure(nothingAsked.Reason())
	}
	return Measure{
		Figures: []Figure{
			{"refused", Count, denied},
			{"requests", Count, all},
			{"refused reads", Count, turnedAway[trace.Read]},
			{"reads", Count, served[trace.Read]},
			{"refused writes", Count, turnedAway[trace.Write]},
			{"writes", Count, served[trace.Write]},
		},
		Summary: ofRequests.Reason(denied, all,
			turnedAway[trace.Read], served[trace.Read], turnedAway[trace.Write], served[trace.Write]),
	}
}
