package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
)

// summaryFigures are the figures that the summary shows for each scenario that measures them.
var summaryFigures = []struct{ measure, figure, head string }{
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
			columns = append(columns, t.scenarioColumn(i, harmSpan))
		}
	}
	if len(t.Rows) < 2 || len(columns) == 0 {
		return nil
	}
	columns = append(columns, tallyColumn{heads("own token")[0], t.tokenCell}, tallyColumn{heads("may lose")[0], t.mayLoseCell})
	for i, r := range t.Rows {
		for _, s := range summaryFigures {
			if slices.Contains(r.Variant.Measures, s.measure) && len(t.variantRows(r.Scenario)) == 1 {
				figure := t.figureColumn("", s.measure, s.figure)
				head := t.columnHead(i)
				head.Text += ": " + s.head
				columns = append(columns, tallyColumn{head, func(r tallyRow) span {
					r.row = i
					return figure.cell(r)
				}})
			}
		}
	}
	return []tallyTable{newTallyTable("Summary",
		"For each scenario with a fault: how often two leases overlapped, and how often the data was wrong without fencing tokens → with them.",
		t.lockRows(0), columns)}
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
func (t *Tally) ownTokens(column int) (hasTokens, known bool) {
	grants, tokens := 0, 0
	for i := range t.Rows {
		grants += t.Counts[i][column].Grants
		tokens += t.Counts[i][column].OwnTokens
	}
	return grants == tokens, grants > 0
}

// tokenCell says whether a lock issues fencing tokens.
func (t tallyTables) tokenCell(r tallyRow) span {
	firstRow := max(0, slices.IndexFunc(t.Counts, func(row []Count) bool { return row[r.lock].Grants > 0 }))
	result := span{Text: "–", Tone: "soft"}
	switch hasTokens, known := t.ownTokens(r.lock); {
	case !known:
	case hasTokens:
		result = span{Text: "yes", Tone: "good"}
	default:
		result = span{Text: "no", Tone: "bad"}
	}
	return t.linkTo(result, firstRow, r.lock)
}

// maxLost returns how many of its servers a lock may lose and still work. It considers the
// scenarios in which servers go down permanently, beginning with one lost server. The lock still
// works if clients made progress afterwards and nothing broke, with each seed. lost is the
// largest number of lost servers with which the lock still works, provided that it works with
// every smaller number that was tested. total is the number of servers. row is the row of the
// scenario with the next greater number or, if there is none, with lost; -1 if no scenario loses
// a server.
func (t *Tally) maxLost(column int) (lost, total, row int) {
	row = -1
	type lossResult struct {
		goesOn bool
		row    int
	}
	byLost := map[int]lossResult{} // by the number of lost servers
	for i := range t.Rows {
		c := t.Counts[i][column]
		if c.Lost == 0 || c.Judged[checks.Progress][0].N == 0 {
			continue
		}
		total = c.Servers
		stillWorks := c.Undecided[0].N+c.Unsafe[0].N+c.Violated[checks.Progress][0].N+c.Violated[checks.LeaseExclusion][0].N == 0
		if known, found := byLost[c.Lost]; !found || known.goesOn && !stillWorks {
			byLost[c.Lost] = lossResult{stillWorks, i}
		}
	}
	for n := 1; n <= total; n++ {
		s, found := byLost[n]
		if !found {
			continue
		}
		row = s.row
		if !s.goesOn {
			break
		}
		lost = n
	}
	return lost, total, row
}

// mayLoseCell says how many of its servers a lock may lose.
func (t tallyTables) mayLoseCell(r tallyRow) span {
	lost, total, row := t.maxLost(r.lock)
	result := span{Text: fmt.Sprintf("%d of %d", lost, total), Tone: "good"}
	switch {
	case row < 0:
		result = span{Text: "–", Tone: "soft"}
	case t.survival(r.lock).isOneOfSeveral():
		result = oneOfSeveral
	case lost == 0:
		result.Tone = "bad"
	}
	return t.linkTo(result, max(0, row), r.lock)
}
