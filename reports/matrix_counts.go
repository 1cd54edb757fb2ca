package reports

import (
	"slices"
	"strconv"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// isLong reports whether the matrix does not fit on a screen.
func (m *Matrix) isLong() bool { return len(m.Rows) > longList }

// counts returns a table that says, for each lock, how many rows have a result of each
// kind. It is the first thing that a reader of a long matrix sees.
func (m *Matrix) counts() table {
	locks := eachVisible(m.Locks)
	if len(locks) == 0 {
		locks = []string{"variants"}
	}
	out := table{Heads: heads(append([]string{"result"}, locks...)...)}
	byKind := make([][]int, len(listKinds))
	for kind := range byKind {
		byKind[kind] = make([]int, len(locks))
	}
	for _, r := range m.Rows {
		for column, c := range r.Cells {
			if kind := c.kind(); kind < singleRunResult {
				byKind[kind][column]++
			}
			if c.isDecided() && slices.ContainsFunc(c.Runs, func(run scenarios.RunResult) bool { return len(run.Differences) > 0 }) {
				byKind[unexpectedResult][column]++
			}
		}
	}
	for kind, numbers := range byKind {
		row := []tableCell{plainCell(listKinds[kind].label)}
		for _, n := range numbers {
			row = append(row, plainCell(strconv.Itoa(n)))
		}
		if sum(numbers) > 0 {
			out.add(row...)
		}
	}
	return out
}

// countScenarios returns the number of scenarios in the matrix.
func (m *Matrix) countScenarios() int {
	n := 0
	for _, s := range m.shelves() {
		n += len(s.Scenarios)
	}
	return n
}

// size says how many scenarios and variants the matrix has.
func (m *Matrix) size() paragraph {
	text := story.Count(m.countScenarios(), "scenario") + " with " + story.Count(len(m.Rows), "variant") + "."
	return paragraph(text + " Each is run without fencing tokens and with them.")
}
