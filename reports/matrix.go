package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A Matrix shows the results of many scenarios side by side: a row for each variant of each
// scenario, with a cell for each lock.
type Matrix struct {
	// Seed is the seed of every run.
	Seed uint64
	// Locks are the kinds of locks that were asked for, a column each. If empty, there is
	// one column, in which each scenario runs with its own lock.
	Locks []string
	Rows  []Row
}

// A Row is one variant of a scenario.
type Row struct {
	Scenario *scenarios.Scenario
	Variant  *scenarios.Variant
	// Cells has an entry for each of the matrix's columns.
	Cells []Cell
}

// A Cell is the result of one variant with one lock.
type Cell struct {
	// Lock is the kind of lock.
	Lock string
	// Runs are the runs without and with fencing tokens. There are none if the scenario
	// does not apply to the lock, and then NotApplicable says why, or if the lock is not
	// linked into this program, and then NotRun says so. On a page there may be only one of
	// the two runs.
	Runs                  []scenarios.RunResult
	NotApplicable, NotRun string
}

// AsExpected reports whether no run differs from what its scenario expects, and no scenario
// is undecided with its own lock.
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

// NotRun counts the cells without a result because their locks are not linked into this
// program.
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

// A shelf is a group of scenarios, each with its rows.
type shelf struct {
	scenarios.CatalogueGroup
	rows map[*scenarios.Scenario][]Row
}

// shelves groups the rows as the catalogue does.
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

// assumption returns the assumption that breaks in the row's variant.
func (r Row) assumption() string { return story.Visible(r.Variant.Assumption) }

// hasRuns reports whether the variant was run with the cell's lock.
func (c Cell) hasRuns() bool { return len(c.Runs) > 0 }

// verdict returns the verdict of the run without fencing (0) or with it (1).
func (c Cell) verdict(run int) string { return c.Runs[run].Verdict.Verdict }

// isDecided reports whether there are runs, and all have a definite verdict.
func (c Cell) isDecided() bool {
	undecided := func(run scenarios.RunResult) bool { return run.Verdict.Verdict == checks.Undecided }
	return c.hasRuns() && !slices.ContainsFunc(c.Runs, undecided)
}

// caveats returns the violated properties that qualify a safe run. Properties of the data
// are not among them, because they hold, nor the exclusions, which have columns of their
// own, nor properties that are only reported. An unsafe run has no caveats.
func caveats(run scenarios.RunResult) []checks.Property {
	if run.Verdict.Verdict != checks.Safe {
		return nil
	}
	return slices.DeleteFunc(checks.PropertiesOf(checks.SubjectConduct), func(p checks.Property) bool {
		return !run.Verdict.Finding(p).Counts()
	})
}

// violated returns those of the properties that a run violates.
func violated(run scenarios.RunResult, of []checks.Property) []checks.Property {
	return slices.DeleteFunc(slices.Clone(of), func(p checks.Property) bool {
		return run.Verdict.Finding(p).Outcome != checks.Violated
	})
}

// letters returns the letters of properties: "gp".
func letters(properties []checks.Property) string {
	var b strings.Builder
	for _, p := range properties {
		b.WriteString(p.Card().Letter)
	}
	return b.String()
}

func namesOf(properties []checks.Property) []string {
	all := make([]string, len(properties))
	for i, p := range properties {
		all[i] = string(p)
	}
	return all
}
