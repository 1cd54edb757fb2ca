package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// Excerpt returns the lines of a run's timeline that cover some events, given by their numbers
// in the trace (Seq). If the timeline leaves out an event, Excerpt takes the line from a
// timeline with messages. It returns "" if there are no such lines.
func (l Timeline) Excerpt(h *history.History, events []int) string {
	var excerpt []story.Clause
	clauses, detailed := story.Clauses(h, l.Messages), []story.Clause(nil)
	for _, seq := range events {
		covers := func(e story.Clause) bool { return e.First <= seq && seq <= e.Last }
		if slices.ContainsFunc(excerpt, covers) {
			continue
		}
		i := slices.IndexFunc(clauses, covers)
		if i >= 0 {
			excerpt = append(excerpt, clauses[i])
			continue
		}
		if detailed == nil {
			detailed = story.Clauses(h, true)
		}
		if i := slices.IndexFunc(detailed, covers); i >= 0 {
			excerpt = append(excerpt, detailed[i])
		}
	}
	if len(excerpt) == 0 {
		return ""
	}
	slices.SortStableFunc(excerpt, func(a, b story.Clause) int { return a.First - b.First })
	var b strings.Builder
	l.layoutFor([][]story.Clause{excerpt}).write(&b, excerpt, excerpt[0].At)
	return b.String()
}
