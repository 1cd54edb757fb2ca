package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A Matrix is a table of the results of many scenarios. It has a row for each variant of
// each scenario, and a cell for each lock.
type Matrix struct {
	// Seed is the seed of all runs.
	Seed uint64
	// Locks are the kinds of locks that the user asked for, with a column each. If empty,
	// there is one column, in which each scenario runs with its own lock.
	Locks []string
	Rows  []Row
}

// A Row is one variant of a scenario.
type Row struct {
	Scenario *scenarios.Scenario
	Variant  *scenarios.Variant
	// Cells has an entry for each column of the matrix.
	Cells []Cell
}

// A Cell is the result of one variant with one lock.
type Cell struct {
	// Lock is the kind of lock.
	Lock string
	// Runs are the runs without and with fencing tokens. Two reasons can leave Runs empty:
	// the scenario does not apply to the lock, which NotApplicable explains, or the lock is
	// not linked into this program, which NotRun explains. In the matrix of a site, one of
	// the two runs may be missing.
	Runs                  []scenarios.RunResult
	NotApplicable, NotRun string
}

// AsExpected reports whether all runs are as their scenarios expect. For a scenario's own
// lock it also requires that there are runs, if the lock is linked into this program, and
// that their verdicts are known.
func (m *Matrix) AsExpected() bool {
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			own := c.Lock == r.Variant.Lock
			bad := func(run scenarios.RunResult) bool {
				return len(run.Differences) > 0 || own && run.Verdict.Verdict == checks.Undecided
			}
			if own && len(c.Runs) == 0 && c.NotRun == "" || slices.ContainsFunc(c.Runs, bad) {
				return false
			}
		}
	}
	return true
}

// NotRun returns the number of cells without runs because their locks are not linked into
// this program.
func (m *Matrix) NotRun() int {
	n := 0
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			if c.NotRun != "" {
				n++
			}
		}
	}
	return n
}

// A shelf is a group of scenarios as in the catalogue, with the rows of each scenario.
type shelf struct {
	scenarios.CatalogueGroup
	rows map[*scenarios.Scenario][]Row
}

// shelves returns the rows in the groups of the catalogue.
func (m *Matrix) shelves() []shelf {
	rows := map[*scenarios.Scenario][]Row{}
	var all []*scenarios.Scenario
	for _, r := range m.Rows {
		if rows[r.Scenario] == nil {
			all = append(all, r.Scenario)
		}
		rows[r.Scenario] = append(rows[r.Scenario], r)
	}
	var shelves []shelf
	for _, s := range scenarios.GroupScenarios(all) {
		shelves = append(shelves, shelf{s, rows})
	}
	return shelves
}

// inOrder returns the rows in the order of the catalogue.
func (m *Matrix) inOrder() []Row {
	var rows []Row
	for _, shelf := range m.shelves() {
		for _, s := range shelf.Scenarios {
			rows = append(rows, shelf.rows[s]...)
		}
	}
	return rows
}

// name returns the full name of a row: "delayed-write, gives-up".
func (r Row) name() string {
	if r.Variant.Name == "" {
		return story.Visible(r.Scenario.Name)
	}
	return story.Visible(r.Scenario.Name) + ", " + story.Visible(r.Variant.Name)
}

// assumption returns the name of the assumption that the row's variant breaks. If the
// scenario was changed, or is not written for any of the locks, the name is computed from
// the runs.
func (r Row) assumption() string {
	var runs []scenarios.RunResult
	isWrittenForNone := true
	for _, c := range r.Cells {
		runs = append(runs, c.Runs...)
		_, isGiven := r.Variant.Expectation(c.Lock, scenarios.Off)
		isWrittenForNone = isWrittenForNone && c.Lock != r.Variant.Lock && !isGiven
	}
	if len(runs) > 0 && (len(r.Scenario.Overrides) > 0 || isWrittenForNone) {
		return brokenIn(runs)
	}
	return story.Visible(r.Variant.Assumption)
}

// hasRuns reports whether the variant was run with the cell's lock.
func (c Cell) hasRuns() bool { return len(c.Runs) > 0 }

// verdict returns the verdict of the run without fencing (run is 0) or with it (run is 1).
func (c Cell) verdict(run int) string { return c.Runs[run].Verdict.Verdict }

// isDecided reports whether the cell has runs, and the verdicts of all of them are known.
func (c Cell) isDecided() bool {
	undecided := func(run scenarios.RunResult) bool { return run.Verdict.Verdict == checks.Undecided }
	return c.hasRuns() && !slices.ContainsFunc(c.Runs, undecided)
}

// violated returns which of the given properties a run violates.
func violated(run scenarios.RunResult, properties []checks.Property) []checks.Property {
	return slices.DeleteFunc(slices.Clone(properties), func(p checks.Property) bool {
		return run.Verdict.Finding(p).Outcome != checks.Violated
	})
}

// letters returns the letters by which a narrow matrix names properties: "gp".
func letters(properties []checks.Property) string {
	var b strings.Builder
	for _, p := range properties {
		b.WriteString(p.Card().Letter)
	}
	return b.String()
}

// namesOf returns the names of properties.
func namesOf(properties []checks.Property) []string {
	all := make([]string, len(properties))
	for i, p := range properties {
		all[i] = string(p)
	}
	return all
}
