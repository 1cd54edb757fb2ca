package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
)

// Excerpt writes the lines of the timeline that tell of some events, given by
// their Seqs. An event that the story leaves out is told as messages are.
func (l Timeline) Excerpt(h *history.History, events []int) string {
	var entries []entry
	story, detailed := storyOf(h, l.Messages), []entry(nil)
	for _, seq := range events {
		tells := func(e entry) bool { return e.first <= seq && seq <= e.last }
		if slices.ContainsFunc(entries, tells) {
			continue
		}
		i := slices.IndexFunc(story, tells)
		if i >= 0 {
			entries = append(entries, story[i])
			continue
		}
		if detailed == nil {
			detailed = storyOf(h, true)
		}
		if i := slices.IndexFunc(detailed, tells); i >= 0 {
			entries = append(entries, detailed[i])
		}
	}
	if len(entries) == 0 {
		return ""
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.first - b.first })
	var b strings.Builder
	l.page([][]entry{entries}).write(&b, entries, entries[0].at)
	return b.String()
}
