package checks

import (
	"github.com/locksim/locksim/history"
)

// notifications counts the notifications that clients receive of changes that they watch: in total,
// and the greatest number between one release and the next. A lock that wakes all waiters at each
// release causes a thundering herd.
var notifications = measure{
	name:     "notifications",
	title:    "how often clients were notified of a change of something that they watch",
	headline: []string{"most after one release"},
	take:     takeNotifications,
}

func takeNotifications(h *judgedRun) Measure {
	if !h.usesCluster() {
		return noMeasure(noCluster.Reason())
	}
	notified, releases := h.Notifications(), h.releaseTimes()
	n := int64(len(notified))
	m := Measure{Figures: []Figure{{"sent", Count, n}}, Summary: plainValue.Reason(n)}
	if len(releases) == 0 {
		return m
	}
	var most, sinceRelease int64
	for i, next := 0, 0; i < len(notified); i++ {
		for ; next < len(releases) && releases[next].Before(history.MomentOf(notified[i])); next++ {
			sinceRelease = 0
		}
		if sinceRelease++; next > 0 {
			most = max(most, sinceRelease)
		}
	}
	m.Figures = append(m.Figures, Figure{"most after one release", Count, most})
	m.Summary = m.Summary.And(mostAfterRelease.Reason(most))
	return m
}

// usesCluster reports whether a lock is kept in a cluster.
func (h *judgedRun) usesCluster() bool {
	for _, l := range h.Trace.Locks {
		if len(l.Members) > 0 {
			return true
		}
	}
	return false
}

// releaseTimes returns when release was called, in order.
func (h *judgedRun) releaseTimes() []history.Moment {
	var all []history.Moment
	for _, c := range h.Calls() {
		if s := h.Section(c.Acquisition); s != nil && s.Released != nil && s.Released == c.Began {
			all = append(all, history.MomentOf(c.Began))
		}
	}
	return all
}
