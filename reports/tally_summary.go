package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
)

// summed are the figures that stand in the summary, of each story that measures them.
var summed = []struct{ measure, figure, head string }{
	{"traffic", "messages per section", "messages"},
	{"wait-after-crash", "longest", "wait"},
}

// summary has one row for each lock, and what decides: what breaks it, whether a token comes
// with it, how many servers it may lose and what it costs. It is none of stories that say
// nothing of that.
func (t *Tally) summary() []tallyTable {
	out := tallyTable{
		Title: "At a glance",
		About: "In a story of a fault: how often two leases overlapped, and how often the data was wrong without fencing tokens → with them.",
	}
	for _, lock := range t.Locks {
		out.Rows = append(out.Rows, tallyRow{Lock: story.Visible(lock)})
	}
	add := func(head tallyHead, cell func(column int) tallyCell) {
		out.Head = append(out.Head, head)
		for column := range t.Locks {
			out.Rows[column].Cells = append(out.Rows[column].Cells, cell(column))
		}
	}
	for i, r := range t.Rows {
		if r.Variant.Assumption != "none" && len(r.Variant.Measures) == 0 {
			add(t.head(i), func(column int) tallyCell { return t.cell(i, column, harmed) })
		}
	}
	if len(t.Rows) < 2 || len(out.Head) == 0 {
		return nil
	}
	add(tallyHead{Name: "own token"}, t.tokenCell)
	add(tallyHead{Name: "may lose"}, t.mayLoseCell)
	for i, r := range t.Rows {
		for _, s := range summed {
			if slices.Contains(r.Variant.Measures, s.measure) && len(t.variants(r.Scenario)) == 1 {
				head := t.head(i)
				head.Name += ": " + s.head
				add(head, func(column int) tallyCell { return t.number(i, column, s.measure, s.figure) })
			}
		}
	}
	return []tallyTable{out}
}

// harmed is how often two had a lease at once, and how often the data was wrong.
func harmed(c Count) (class, text string, seed uint64) {
	grants, twice, shows := often(c.Violated[checks.LeaseExclusion][0], c.Judged[checks.LeaseExclusion][0].N)
	class, data, seed := wrongData(c)
	if grants == "bad" {
		class = "bad"
	}
	return class, twice + ", " + data, max(seed, shows)
}

// ownTokens says whether a fencing token came with each grant of a lock; it is not known if
// there was none.
func (t *Tally) ownTokens(column int) (comes, known bool) {
	grants, tokens := 0, 0
	for i := range t.Rows {
		grants += t.Counts[i][column].Grants
		tokens += t.Counts[i][column].OwnTokens
	}
	return grants == tokens, grants > 0
}

func (t *Tally) tokenCell(column int) tallyCell {
	cell := tallyCell{column: column, Class: "soft", Text: "–"}
	for i := range t.Rows {
		if t.Counts[i][column].Grants > 0 {
			cell.row = i
			break
		}
	}
	switch comes, known := t.ownTokens(column); {
	case !known:
	case comes:
		cell.Class, cell.Text = "good", "yes"
	default:
		cell.Class, cell.Text = "bad", "no"
	}
	return cell
}

// mayLose is how many of its servers a lock may lose and go on: the most that went down for
// good in any story, if in that and in all with fewer somebody got work done afterwards and
// nothing broke, on each seed. The row is that of the story which shows it, and -1 if none
// tells of a server that is lost.
func (t *Tally) mayLose(column int) (lost, of, row int) {
	row = -1
	type one struct {
		goesOn bool
		row    int
	}
	stories := map[int]one{} // by how many were lost
	for i := range t.Rows {
		c := t.Counts[i][column]
		if c.Lost == 0 || c.Judged[checks.Progress][0].N == 0 {
			continue
		}
		of = c.Servers
		goesOn := c.Undecided[0].N+c.Unsafe[0].N+c.Violated[checks.Progress][0].N+c.Violated[checks.LeaseExclusion][0].N == 0
		if known, told := stories[c.Lost]; !told || known.goesOn && !goesOn {
			stories[c.Lost] = one{goesOn, i}
		}
	}
	for n := 1; n <= of; n++ {
		s, told := stories[n]
		if !told {
			continue
		}
		row = s.row
		if !s.goesOn {
			break
		}
		lost = n
	}
	return lost, of, row
}

func (t *Tally) mayLoseCell(column int) tallyCell {
	lost, of, row := t.mayLose(column)
	if row < 0 {
		return tallyCell{column: column, Class: "soft", Text: "–"}
	}
	cell := tallyCell{row: row, column: column, Class: "good", Text: fmt.Sprintf("%d of %d", lost, of)}
	if lost == 0 {
		cell.Class = "bad"
	}
	return cell
}
