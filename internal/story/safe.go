package story

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
)

// WhySafe says, as a clause, why the critical sections of a safe run did no damage; "" if
// they overlapped, because then [DataSummary] says why.
func WhySafe(h *history.History, v *checks.Verdict) Raw {
	var clients []string
	for _, s := range h.Sections() {
		if !slices.Contains(clients, s.Client) {
			clients = append(clients, s.Client)
		}
	}
	switch {
	case len(clients) == 0:
		return "no client got the lock"
	case len(clients) == 1:
		return Raw("only " + clients[0] + " entered its critical section")
	case v.Finding(checks.SectionExclusion).Outcome == checks.Holds:
		return "no two clients were in their critical sections at the same time"
	}
	return ""
}
