package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// A matrixTable is the data of a matrix on a page.
type matrixTable struct {
	// Locks have a pair of columns each. If empty, there is one pair, preceded by columns
	// for the two exclusions.
	Locks []string
	// Heads are the columns before the pairs, and Pair the two of a pair.
	Heads, Pair []string
	// Columns is the number of all columns, and Rows the number of variants.
	Columns, Rows int
	// standings counts the rows of each standing, notApplicable those that are not
	// applicable, and notRun those whose locks are not linked into this program.
	standings             map[Standing]int
	notApplicable, notRun int
	Shelves               []matrixShelf
	// Choices are the sorts of rows that the reader can filter by.
	Choices []matrixChoice
}

// A matrixShelf is a group of scenarios.
type matrixShelf struct {
	Title     string
	Scenarios []matrixScenario
}

// A matrixScenario is a scenario with its rows. Several reports whether it has a line of
// its own above them.
type matrixScenario struct {
	ID, Name, Title, To string
	Several             bool
	Rows                []matrixRow
}

// A matrixRow is one variant.
type matrixRow struct {
	Name, Title, To, Assumption string
	// Note distinguishes the row from others of the same name.
	Note string
	// Sorts are the keys of the choices to which it belongs.
	Sorts string
	// Alarms are the badges of unwanted standings.
	Alarms []badge
	Cells  []matrixCell
}

// A matrixChoice is a sort of rows, with their number.
type matrixChoice struct {
	Key, Label string
	Count      int
}

// A pageFinder returns the page about the result of a row with the lock of a column, with a
// note if it needs one; a zero link if there is no page.
type pageFinder func(r Row, column int) pageLink

// noPage is the pageFinder of a matrix without pages.
func noPage(Row, int) pageLink { return pageLink{} }

// page prepares the matrix for a page.
func (m *Matrix) page(pages pageFinder) matrixTable {
	t := matrixTable{
		Locks:     eachVisible(m.Locks),
		Heads:     []string{"scenario", "assumption"},
		Pair:      []string{runName[scenarios.Off], runName[scenarios.On]},
		standings: map[Standing]int{}, notRun: m.NotRun(),
	}
	if len(m.Locks) == 0 {
		t.Heads = append(t.Heads, namesOf(checks.PropertiesOf(checks.SubjectExclusion))...)
	}
	t.Columns = len(t.Heads) + 2*max(1, len(m.Locks))
	ids, counts := pageNames{}, map[string]int{}
	for _, shelf := range m.shelves() {
		here := matrixShelf{Title: shelf.Title}
		for _, s := range shelf.Scenarios {
			out := matrixScenario{
				ID: "row-" + ids.name(s.Name), Name: story.Visible(s.Name), Title: story.Visible(textwrap.OneLine(s.Title)),
				Several: len(shelf.rows[s]) > 1 || shelf.rows[s][0].Variant.Name != "",
			}
			for _, r := range shelf.rows[s] {
				row := m.row(r, pages)
				for _, key := range strings.Fields(row.Sorts) {
					counts[key]++
				}
				if out.To == "" {
					out.To, _, _ = strings.Cut(row.To, "#")
				}
				out.Rows = append(out.Rows, row)
				t.Rows++
				standings := r.standings()
				for _, standing := range standings {
					t.standings[standing]++
				}
				if len(standings) == 0 && !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.NotRun != "" }) {
					t.notApplicable++
				}
			}
			here.Scenarios = append(here.Scenarios, out)
		}
		t.Shelves = append(t.Shelves, here)
	}
	for _, s := range sorts {
		if n := counts[s.key]; n > 0 {
			t.Choices = append(t.Choices, matrixChoice{s.key, s.label, n})
		}
	}
	return t
}

// summary counts the rows by result: "3 variants of 2 scenarios, with 2 locks: 3 as
// expected, 0 not as expected, 0 unknown". The numbers are those of the choices.
func (t matrixTable) summary() string {
	scenarios := 0
	for _, shelf := range t.Shelves {
		scenarios += len(shelf.Scenarios)
	}
	text := story.Count(scenarios, "scenario")
	if t.Rows > scenarios {
		text = story.Count(t.Rows, "variant") + " of " + text
	}
	which := "this lock"
	if len(t.Locks) > 0 {
		text += ", with " + story.Count(len(t.Locks), "lock")
		which = "some lock"
	}
	text += ": " + standingsWords(t.standings, which)
	if t.notApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", t.notApplicable)
	}
	if t.notRun > 0 {
		text += fmt.Sprintf(", %d not run", t.notRun)
	}
	return text
}

// mood returns the colour of the summary.
func (t matrixTable) mood() string {
	for _, standing := range alarms {
		if t.standings[standing] > 0 {
			return standingBadges[standing].Class
		}
	}
	return "good"
}

// row prepares one variant for a page.
func (m *Matrix) row(r Row, pages pageFinder) matrixRow {
	out := matrixRow{Name: story.Visible(r.Variant.Name), Assumption: r.assumption()}
	if title := story.Visible(textwrap.OneLine(r.Variant.Title)); title != story.Visible(textwrap.OneLine(r.Scenario.Title)) {
		out.Title = title
	}
	found := map[sort]bool{}
	for column, c := range r.Cells {
		page := pages(r, column)
		out.Note = cmp.Or(out.Note, page.Text)
		e := matrixEntry{r, c, page.To, len(m.Locks) > 0}
		if out.To == "" {
			out.To = e.to(variantAnchor(r.Variant))
		}
		out.Cells = append(out.Cells, e.cells()...)
		found[c.sort()] = true
	}
	for _, standing := range r.standings() {
		if slices.Contains(alarms, standing) {
			out.Alarms = append(out.Alarms, standingBadges[standing])
		}
		found[unexpected] = found[unexpected] || standing == NotAsExpected
	}
	var keys []string
	for kind, s := range sorts {
		if found[sort(kind)] {
			keys = append(keys, s.key)
		}
	}
	out.Sorts = strings.Join(keys, " ")
	return out
}

// pageSpelling returns the spelling of a page.
func pageSpelling() spelling {
	w := spellingInFull()
	w.unsafe, w.safe, w.unknown, w.notApplicable = "✗ unsafe", "✓ safe", "? unknown", "– n/a"
	w.caveat = func(p checks.Property) string { return "! safe, but ✗ " + string(p) }
	w.unknownWhy = "the run is inconclusive; the box at the top says why"
	return w
}
