package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
)

// alarms are the standings that nobody wants, those first that are known to be wrong.
var alarms = []Standing{NotAsExpected, Undecided}

// standing is what the runs of a cell that could be told came to.
func (c Cell) standing() Standing { return standingOfRuns(c.Runs) }

// standings are what a row came to: every alarm that one of its cells gives, or without
// any the worst of the others. A row that could not be told has none.
func (r Row) standings() []Standing {
	var all []Standing
	for _, c := range r.Cells {
		if c.told() {
			all = append(all, c.standing())
		}
	}
	found := slices.DeleteFunc(slices.Clone(alarms), func(s Standing) bool { return !slices.Contains(all, s) })
	if len(found) == 0 && len(all) > 0 {
		return []Standing{slices.Max(all)}
	}
	return found
}

// boxes say of every row that gives an alarm why.
func (m *Matrix) boxes() []frontBox {
	boxes := map[Standing]frontBox{
		NotAsExpected: {ID: "surprises", Title: "Not as expected"},
		Undecided:     {ID: "unknown", Title: "Unknown"},
	}
	var all []frontBox
	for _, alarm := range alarms {
		box := boxes[alarm]
		box.Class = standingBadges[alarm].Class
		for _, r := range m.inOrder() {
			if said := m.alarmed(r, alarm); len(said) > 0 {
				box.Items = append(box.Items, remark{story.Raw(r.name()), story.Raw(strings.Join(said, "; "))})
			}
		}
		if len(box.Items) > 0 {
			all = append(all, box)
		}
	}
	return all
}

// alarmed says why the cells of a row give an alarm.
func (m *Matrix) alarmed(r Row, alarm Standing) []string {
	var said []string
	for _, c := range r.Cells {
		if !c.told() || c.standing() != alarm {
			continue
		}
		var lock []string
		if len(m.Locks) > 0 {
			lock = []string{story.Visible(c.Lock)}
		}
		if alarm == Undecided {
			said = append(said, strings.Join(append(lock, c.doubt()), ": "))
			continue
		}
		for _, run := range c.Runs {
			if len(run.Differences) > 0 {
				said = append(said, strings.Join(append(lock, runName[run.Fencing]), ", ")+": "+strings.Join(asShown(complaints(run)), "; "))
			}
		}
	}
	return said
}
