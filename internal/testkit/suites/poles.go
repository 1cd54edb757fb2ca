package suites

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// checkUncrossed tests the lines (poles) with which a diagram connects the flag (pennant)
// of a violation to the moment at which it happened. It fails the test if such a line
// crosses a decision of the storage: that decision would look as if it had been wrong. It
// also fails the test if no line leads from the flag of a violation to its moment.
func checkUncrossed(t *testing.T, r *scenarios.Result) {
	t.Helper()
	const pillHeight, pillWithTextHeight = 20, 33 // the height of a pill, which is a decision, and of a pill with a text below it, as package diagram draws them
	for _, v := range r.Scenario.Variants {
		var runs []story.Run
		for _, run := range r.Runs {
			if run.Variant == v {
				runs = append(runs, story.Run{History: run.History, Verdict: run.Verdict, ID: v.Name + run.Fencing})
			}
		}
		for i, f := range diagram.Draw(runs, diagram.RoomFor(runs)) {
			lineStart := map[int]int{} // by column: where the line begins that begins the highest
			for _, pole := range f.Poles {
				if !slices.Contains(strings.Fields(pole.Class), "broken") {
					continue
				}
				if from, hasLine := lineStart[pole.X]; !hasLine || pole.From < from {
					lineStart[pole.X] = pole.From
				}
				for _, p := range f.Decisions {
					bottom := p.Y + pillHeight
					if p.Below != "" {
						bottom = p.Y + pillWithTextHeight
					}
					if p.Left() <= pole.X && pole.X <= p.Left()+p.W && pole.From <= bottom && p.Y <= pole.To {
						t.Errorf("%s: the line %+v goes through the pill %+v", f.ID, pole, p)
					}
				}
			}
			for _, p := range f.Pennants {
				if from, hasLine := lineStart[p.X]; p.Class == "broken" && (!hasLine || from > p.Y) {
					t.Errorf("%s: no line leads from the flag %q to its moment", f.ID, p.Text)
				}
			}
			if decided := len(runs[i].History.StorageDecisions()); len(f.Decisions) != decided && f.LeftOut == "" {
				t.Errorf("%s: %d pills for %d decisions, and the figure does not say that some are left out", f.ID, len(f.Decisions), decided)
			}
		}
	}
}
