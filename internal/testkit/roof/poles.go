package roof

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/scenarios"
)

// checkUncrossed fails the test if a line for something broken crosses a decision of the
// storage, which would look as if it had been refused, or if no line leads from a flag.
func checkUncrossed(t *testing.T, r *scenarios.Result) {
	t.Helper()
	const pillHeight, belowText = 20, 33 // as in the template pill.html
	for _, v := range r.Scenario.Variants {
		var runs []diagram.Run
		for _, run := range r.Runs {
			if run.Variant == v {
				runs = append(runs, diagram.Run{History: run.History, Verdict: run.Verdict, ID: v.Name + run.Fencing})
			}
		}
		for i, f := range diagram.Draw(runs, diagram.RoomFor(runs)) {
			leads := map[int]int{} // for each column, the highest point where a line for something broken begins
			for _, pole := range f.Poles {
				if !slices.Contains(strings.Fields(pole.Class), "broken") {
					continue
				}
				if from, led := leads[pole.X]; !led || pole.From < from {
					leads[pole.X] = pole.From
				}
				for _, p := range f.Decisions {
					bottom := p.Y + pillHeight
					if p.Below != "" {
						bottom = p.Y + belowText
					}
					if p.Left() <= pole.X && pole.X <= p.Left()+p.W && pole.From <= bottom && p.Y <= pole.To {
						t.Errorf("%s: the line %+v goes through the pill %+v", f.ID, pole, p)
					}
				}
			}
			for _, p := range f.Pennants {
				if from, led := leads[p.X]; p.Class == "broken" && (!led || from > p.Y) {
					t.Errorf("%s: no line leads from the flag %q to its moment", f.ID, p.Text)
				}
			}
			if decided := len(runs[i].History.StorageDecisions()); len(f.Decisions) != decided && f.LeftOut == "" {
				t.Errorf("%s: %d pills for %d decisions, and the figure does not say that some are left out", f.ID, len(f.Decisions), decided)
			}
		}
	}
}
