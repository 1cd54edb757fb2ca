package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
)

// summed are the figures that the summary shows for each scenario that measures them.
var summed = []struct{ measure, figure, head string }{
	{"traffic", "messages per section", "messages"},
	{"wait-after-crash", "longest", "wait"},
}

// summary returns a table with one row for each lock and the most important facts: what
// breaks the lock, whether it issues tokens, how many servers it may lose, and what it
// costs. If the scenarios do not show these facts, it returns no table.
func (t tallyTables) summary() []tallyTable {
	var columns []tallyColumn
	for i, r := range t.Rows {
		if r.Variant.Assumption != "none" && len(r.Variant.Measures) == 0 {
			columns = append(columns, t.ofStory(i, harmSpan))
		}
	}
	if len(t.Rows) < 2 || len(columns) == 0 {
		return nil
	}
	columns = append(columns, tallyColumn{heads("own token")[0], t.tokenCell}, tallyColumn{heads("may lose")[0], t.mayLoseCell})
	for i, r := range t.Rows {
		for _, s := range summed {
			if slices.Contains(r.Variant.Measures, s.measure) && len(t.variants(r.Scenario)) == 1 {
				figure := t.figure("", s.measure, s.figure)
				head := t.head(i)
				head.Text += ": " + s.head
				columns = append(columns, tallyColumn{head, func(r tallyRow) span {
					r.story = i
					return figure.cell(r)
				}})
			}
		}
	}
	return []tallyTable{newTallyTable("Summary",
		"For each scenario with a fault: how often two leases overlapped, and how often the data was wrong without fencing tokens → with them.",
		t.locks(0), columns)}
}

// harmSpan says how often two clients held a lease at the same time, and how often the data
// was wrong.
func harmSpan(c Count) span {
	grants, data := frequency(c.Violated[checks.LeaseExclusion][0], c.Judged[checks.LeaseExclusion][0].N), wrongData(c)
	if grants.Tone == "bad" {
		data.Tone = "bad"
	}
	data.Text = grants.Text + ", " + data.Text
	return data
}

// ownTokens reports whether each grant of a lock had a fencing token that the lock issued.
// known is false if there was no grant.
func (t *Tally) ownTokens(column int) (comes, known bool) {
	grants, tokens := 0, 0
	for i := range t.Rows {
		grants += t.Counts[i][column].Grants
		tokens += t.Counts[i][column].OwnTokens
	}
	return grants == tokens, grants > 0
}

// tokenCell says whether a lock issues fencing tokens.
func (t tallyTables) tokenCell(r tallyRow) span {
	shown := max(0, slices.IndexFunc(t.Counts, func(row []Count) bool { return row[r.lock].Grants > 0 }))
	says := span{Text: "–", Tone: "soft"}
	switch comes, known := t.ownTokens(r.lock); {
	case !known:
	case comes:
		says = span{Text: "yes", Tone: "good"}
	default:
		says = span{Text: "no", Tone: "bad"}
	}
	return t.linkTo(says, shown, r.lock)
}

// maxLost returns how many of its servers a lock may lose and still work. It looks at the
// scenarios in which servers go down permanently, from the fewest servers to the most. The
// lock still works if clients made progress afterwards and nothing broke, with each seed.
// The result lost is the largest number up to which this holds, and total is the number of
// servers. The result row is the row of the scenario that shows it, or -1 if no scenario
// loses a server.
func (t *Tally) mayLose(column int) (lost, of, row int) {
	row = -1
	type one struct {
		goesOn bool
		row    int
	}
	stories := map[int]one{} // by the number of lost servers
	for i := range t.Rows {
		c := t.Counts[i][column]
		if c.Lost == 0 || c.Judged[checks.Progress][0].N == 0 {
			continue
		}
		of = c.Servers
		stillWorks := c.Undecided[0].N+c.Unsafe[0].N+c.Violated[checks.Progress][0].N+c.Violated[checks.LeaseExclusion][0].N == 0
		if known, found := stories[c.Lost]; !found || known.goesOn && !stillWorks {
			stories[c.Lost] = one{stillWorks, i}
		}
	}
	for n := 1; n <= of; n++ {
		s, found := stories[n]
		if !found {
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

// mayLoseCell says how many of its servers a lock may lose.
func (t tallyTables) mayLoseCell(r tallyRow) span {
	lost, of, row := t.mayLose(r.lock)
	says := span{Text: fmt.Sprintf("%d of %d", lost, of), Tone: "good"}
	switch {
	case row < 0:
		says = span{Text: "–", Tone: "soft"}
	case lost == 0:
		says.Tone = "bad"
	}
	return t.linkTo(says, max(0, row), r.lock)
}
