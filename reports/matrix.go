package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A Matrix is what many stories came to, side by side: a row for each variant
// of each scenario, and in it a cell for each lock.
type Matrix struct {
	// Seed is that of every run.
	Seed uint64
	// Locks are the kinds of locks that were asked for, a column each. Without
	// any there is one column, each story with its own lock.
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

// A Cell is what one variant came to with one lock.
type Cell struct {
	// Lock is the kind of lock.
	Lock string
	// Runs are the runs without fencing tokens and with them; none if the story
	// cannot be told with the lock, and then Untold says why, or if this program is
	// without the lock, and then NotRun says so. On a page there may be only one of the
	// two.
	Runs           []scenarios.Outcome
	Untold, NotRun string
}

// AsExpected is false when some run came to something else than its scenario
// expects, or when nobody can tell what a story came to with its own lock.
func (m *Matrix) AsExpected() bool {
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			own := c.Lock == r.Variant.Lock
			bad := func(run scenarios.Outcome) bool {
				return len(run.Differences) > 0 || own && run.Verdict.Verdict == checks.Undecided
			}
			if own && len(c.Runs) == 0 && c.NotRun == "" || slices.ContainsFunc(c.Runs, bad) {
				return false
			}
		}
	}
	return true
}

// NotRun counts the cells of which nobody knows what they come to, because this program is
// without their locks.
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
	scenarios.Shelf
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
	for _, s := range scenarios.Shelve(all) {
		shelves = append(shelves, shelf{s, rows})
	}
	return shelves
}

// inOrder lists the rows in the order of the catalogue.
func (m *Matrix) inOrder() []Row {
	var rows []Row
	for _, shelf := range m.shelves() {
		for _, s := range shelf.Scenarios {
			rows = append(rows, shelf.rows[s]...)
		}
	}
	return rows
}

// name names a row where nothing else does: "delayed-write, gives-up".
func (r Row) name() string {
	if r.Variant.Name == "" {
		return story.Visible(r.Scenario.Name)
	}
	return story.Visible(r.Scenario.Name) + ", " + story.Visible(r.Variant.Name)
}

// assumption is what breaks in the row's story.
func (r Row) assumption() string { return story.Visible(r.Variant.Assumption) }

// told reports whether the story could be told with the cell's lock.
func (c Cell) told() bool { return len(c.Runs) > 0 }

// verdict is what the run without fencing (0) or with it (1) came to.
func (c Cell) verdict(run int) string { return c.Runs[run].Verdict.Verdict }

// known reports whether all runs came to a verdict.
func (c Cell) known() bool {
	undecided := func(run scenarios.Outcome) bool { return run.Verdict.Verdict == checks.Undecided }
	return c.told() && !slices.ContainsFunc(c.Runs, undecided)
}

// caveats are the properties that qualify a safe run: neither those of the data, which it
// has, nor the exclusions, which have columns of their own. Of an unsafe run worse has been
// said. What is only reported qualifies nothing.
func caveats(run scenarios.Outcome) []checks.Property {
	if run.Verdict.Verdict != checks.Safe {
		return nil
	}
	return slices.DeleteFunc(checks.PropertiesOf(checks.OfConduct), func(p checks.Property) bool {
		return !run.Verdict.Finding(p).Counts()
	})
}

// violated are those of the properties that a run violates.
func violated(run scenarios.Outcome, of []checks.Property) []checks.Property {
	return slices.DeleteFunc(slices.Clone(of), func(p checks.Property) bool {
		return run.Verdict.Finding(p).Outcome != checks.Violated
	})
}

// letters are those of properties: "gp".
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
