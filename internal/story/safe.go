package story

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
)

// WhySafe says, as a clause, why the critical sections of a safe run did no damage; "" if
// they overlapped, because then [DataSummary] says why.
func WhySafe(h *history.History) Raw {
	sections := slices.Clone(h.Sections())
	var clients []string
	for _, s := range sections {
		if !slices.Contains(clients, s.Client) {
			clients = append(clients, s.Client)
		}
	}
	switch {
	case len(clients) == 0:
		return "no client got the lock"
	case len(clients) == 1:
		return Raw("only " + clients[0] + " entered its critical section")
	case !areApart(sections):
		return ""
	}
	return "no two clients were in their critical sections at the same time"
}

// areApart reports whether no two sections of different clients overlap, even if they are of
// different locks. It sorts the sections by their beginnings.
func areApart(sections []*history.Section) bool {
	slices.SortStableFunc(sections, func(a, b *history.Section) int {
		return cmp.Or(cmp.Compare(a.From.At, b.From.At), cmp.Compare(a.From.Seq, b.From.Seq))
	})
	ends := map[string]history.Moment{}
	for _, s := range sections {
		for client, end := range ends {
			if client != s.Client && s.From.Before(end) {
				return false
			}
		}
		ends[s.Client] = history.Later(ends[s.Client], s.To)
	}
	return true
}
