package checks

import (
	"github.com/locksim/locksim/trace"
)

// refused measures how many requests the storage refuses. The usual reason is a fencing token that
// is too old or missing.
var refused = measure{
	name:     "refused",
	title:    "requests that the storage refused",
	headline: []string{"refused"},
	take:     takeRefused,
}

func takeRefused(h *judgedRun) Measure {
	served, refusedRequests := map[trace.Step]int64{}, map[trace.Step]int64{}
	var total, totalRefused int64
	for _, ev := range h.ServedRequests() {
		served[ev.Step]++
		total++
		if !ev.OK {
			refusedRequests[ev.Step]++
			totalRefused++
		}
	}
	if total == 0 {
		return noMeasure(nothingAsked.Reason())
	}
	return Measure{
		Figures: []Figure{
			{"refused", Count, totalRefused},
			{"requests", Count, total},
			{"refused reads", Count, refusedRequests[trace.Read]},
			{"reads", Count, served[trace.Read]},
			{"refused writes", Count, refusedRequests[trace.Write]},
			{"writes", Count, served[trace.Write]},
		},
		Summary: ofRequests.Reason(totalRefused, total,
			refusedRequests[trace.Read], served[trace.Read], refusedRequests[trace.Write], served[trace.Write]),
	}
}
