package reports

import (
	"fmt"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/story"
)

// alarms are the standings that need attention. A difference from the expectation comes
// before an unknown verdict.
var alarms = []Standing{NotAsExpected, Undecided}

// standing returns the standing of a cell that has runs: how the result compares with the
// expectation.
func (c Cell) standing() Standing { return standingOfRuns(c.Runs) }

// standings returns the standings in a row that need attention. If there are none, it
// returns the worst standing of the row's cells. A row without runs has no standing.
func (r Row) standings() []Standing {
	var all []Standing
	for _, c := range r.Cells {
		if c.hasRuns() {
			all = append(all, c.standing())
		}
	}
	found := slices.DeleteFunc(slices.Clone(alarms), func(s Standing) bool { return !slices.Contains(all, s) })
	if len(found) == 0 && len(all) > 0 {
		return []Standing{slices.Max(all)}
	}
	return found
}

// alarms returns the standings in a row that need attention.
func (r Row) alarms() []Standing {
	return slices.DeleteFunc(r.standings(), func(s Standing) bool { return !slices.Contains(alarms, s) })
}

// alarmBox returns a highlighted list of the rows with a standing that needs attention. It says for
// each row why the row has it. alarmBox returns nil if there are no such rows.
func (m *Matrix) alarmBox(id, title string, alarm Standing) g.Node {
	var rows facts
	for _, r := range m.inOrder() {
		if reasons := m.alarmReasons(r, alarm); len(reasons) > 0 {
			rows = append(rows, remark{story.Raw(r.name()), story.Raw(strings.Join(reasons, "; "))})
		}
	}
	return g.If(!rows.empty(), h.Section(h.Class("box "+standingBadges[alarm].Class+"-side"), h.Aria("labelledby", id), onLines(
		heading(id, fmt.Sprintf("%s (%d)", title, len(rows))), rows.html(),
	)))
}

// alarmReasons says why cells of a row have a standing that needs attention.
func (m *Matrix) alarmReasons(r Row, alarm Standing) []string {
	var reasons []string
	for _, c := range r.Cells {
		if !c.hasRuns() || c.standing() != alarm {
			continue
		}
		var lock []string
		if len(m.Locks) > 0 {
			lock = []string{story.Visible(c.Lock)}
		}
		if alarm == Undecided {
			reasons = append(reasons, strings.Join(append(lock, c.doubt()), ": "))
			continue
		}
		for _, run := range c.Runs {
			if len(run.Differences) > 0 {
				reasons = append(reasons, strings.Join(append(lock, fencingNames[run.Fencing]), ", ")+": "+strings.Join(visibleTexts(complaintsOfRun(run)), "; "))
			}
		}
	}
	return reasons
}
