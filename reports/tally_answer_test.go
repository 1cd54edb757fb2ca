package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
)

// textsOf returns the texts of the cells of each row.
func textsOf(tb table) [][]string {
	var rows [][]string
	for _, r := range tb.Rows {
		var texts []string
		for _, cell := range r.Cells {
			texts = append(texts, cell[0].Text)
		}
		rows = append(rows, texts)
	}
	return rows
}

// The answer follows from the counts: each change of a count changes a word.
func TestAnswer(t *testing.T) {
	tally := summaryTally()
	answer := func() [][]string { return textsOf(tallyTables{tally, noPage}.answer()[0].Table) }
	check := func(what string, want ...[]string) {
		t.Helper()
		if got := answer(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s, the answer is\n%q\nwant\n%q", what, got, want)
		}
	}
	check("at first",
		[]string{"redlock", "1/4: process", "never in 4", "yes, 1 of 3", "30", "–"},
		[]string{"single", "never in 4", "never in 4", "no, 0 of 1", "10", "–"})

	tally.Counts[0][1].Unsafe[0] = times{N: 1, Seed: 1}
	tally.Counts[1][1].Undecided[0] = times{N: 1, Seed: 1}
	tally.Counts[3][1].Unsafe[0] = times{N: 1, Seed: 1}
	tally.Counts[2][1].Replaced = 1
	check("with wrong data, an unknown verdict and a replica",
		[]string{"redlock", "1/4: process", "never in 4", "yes, 1 of 3", "30", "–"},
		[]string{"single", "never in 3, 1 unknown", "2/3, 1 unknown: process, nothing breaks", "no: no progress", "10", "–"})

	for i := range tally.Counts {
		tally.Counts[i][1] = Count{}
	}
	check("if no scenario applies to a lock",
		[]string{"redlock", "1/4: process", "never in 4", "yes, 1 of 3", "30", "–"},
		[]string{"single", "–", "–", "–", "–", "–"})

	for i := range tally.Counts {
		tally.Counts[i][0] = Count{}
	}
	if got := (tallyTables{tally, noPage}).answer(); got != nil {
		t.Errorf("although nothing was run, there is an answer: %v", got)
	}
}

// The harm of takeovers to a lock is the worst harm in any of the scenarios, whatever their order.
// If a run is unknown, the lock does not count as unharmed.
func TestWorstHarmOfFailovers(t *testing.T) {
	for _, order := range [][]int{{1, 3}, {3, 1}} {
		tally := summaryTally()
		for _, row := range order {
			tally.Counts[row][0].Replaced = 1
		}
		tally.Counts[order[0]][0].Undecided[0] = times{N: 1, Seed: 1}
		if got := tally.survival(0).harm; got != unknownHarm {
			t.Errorf("with an unknown run, the harm is %q", got)
		}
		tally.Counts[order[0]][0].Violated[checks.Progress] = [2]times{{N: 1, Seed: 1}}
		tally.Counts[order[1]][0].Unsafe[0] = times{N: 1, Seed: 1}
		if got := tally.survival(0).harm; got != "wrong data" {
			t.Errorf("with wrong data in row %d and no progress in row %d, the harm is %q", order[1], order[0], got)
		}
	}
}

// The answer says nothing about the loss of the only server if people usually run several.
func TestSurvivalInWords(t *testing.T) {
	for want, s := range map[string]survival{
		"–":                   {total: 1, usual: "3 or 5 servers"},
		"? 1 simulated":       {total: 1, isTested: true, usual: "3 or 5 servers"},
		"no, 0 of 1":          {total: 1, isTested: true},
		"no, 0 of 3":          {total: 3, isTested: true, usual: "3 or 5 servers"},
		"yes, 2 of 5":         {total: 5, lost: 2, isTested: true, hasReplica: true, harm: "two holders"},
		"yes, with a replica": {total: 1, isTested: true, hasReplica: true},
		"unsafe: wrong data":  {total: 1, isTested: true, hasReplica: true, harm: "wrong data"},
	} {
		if got := s.span().Text; got != want {
			t.Errorf("%+v in words is %q, want %q", s, got, want)
		}
	}
}

// A lock fits a need only if the counts show it.
func TestDecisions(t *testing.T) {
	tally := summaryTally()
	decisions := func() [][]string { return textsOf(decisionTable((tallyTables{tally, noPage}).decisions()).Table) }
	want := [][]string{
		{"only time is lost", "fit", "fewest messages: single 10 and redlock 30"},
		{"rare cases are fine", "fit", "survives one server: redlock"},
		{"rare cases are fine", "unfit", "no server may be down: single"},
		{"data elsewhere is wrong", "fit", "own token; data right if the storage checks it: redlock"},
		{"data elsewhere is wrong", "unfit", "no own token: single"},
	}
	if got := decisions(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the decisions are\n%q\nwant\n%q", got, want)
	}
	tally.Counts[0][0].Unsafe[1] = times{N: 1, Seed: 1}
	want[3][2], want[4][2] = "own token; data right if the storage checks it: none", "wrong data despite tokens in same-pause: redlock; no own token: single"
	if got := decisions(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("with wrong data in spite of tokens, the decisions are\n%q\nwant\n%q", got, want)
	}
}

// A table that is too wide is wrapped, or else drawn in parts. Each line fits, and no text
// is lost.
func TestTableFitsThePage(t *testing.T) {
	words := table{Heads: heads("lock", "the first verdict", "second"), wraps: true}
	words.add(plainCell("redlock"), plainCell("one two three four five six"), plainCell("seven eight nine"))
	signs := table{Heads: heads("lock", "first-long-head", "second-long-head", "third-long-head")}
	signs.add(plainCell("redlock"), plainCell("one"), plainCell("two"), plainCell("three"))
	signs.Rows = append(signs.Rows, tableRow{Title: "a title"})
	signs.add(plainCell("single"), plainCell("four"), plainCell("five"), plainCell("six"))
	for name, tb := range map[string]table{"wrapped": words, "in parts": signs} {
		for _, width := range []int{30, 40, 60, 200} {
			drawn := tb.drawInParts(width, Options{})
			for line := range strings.Lines(drawn) {
				if n := columnsOf(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s at %d columns: a line has %d columns:\n%s", name, width, n, drawn)
				}
			}
			for _, row := range textsOf(tb) {
				for _, word := range strings.Fields(strings.Join(row, " ")) {
					if !strings.Contains(drawn, word) {
						t.Errorf("%s at %d columns: %q is missing:\n%s", name, width, word, drawn)
					}
				}
			}
		}
	}
	if drawn := signs.drawInParts(40, Options{}); strings.Count(drawn, "redlock") < 2 || strings.Count(drawn, "a title") < 2 {
		t.Errorf("a part lacks the labels of the rows:\n%s", drawn)
	}
}
