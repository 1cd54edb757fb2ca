package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// A matrixTable is the data of a matrix on a page.
type matrixTable struct {
	// Locks are the locks of the columns. Each has a pair of columns, for the runs without and
	// with fencing. If Locks is empty, there is one pair, and before it a column each for mutual
	// exclusion of leases and of sections.
	Locks []string
	// Heads are the heads of the columns before the pairs, and Pair the two heads of a
	// pair.
	Heads, Pair []string
	// Columns is the number of columns, and Rows the number of variants.
	Columns, Rows int
	// standings has the number of rows with each standing, which is the result compared
	// with the expectation. notApplicable counts rows that do not apply to any lock, and
	// notRun cells whose locks are not linked into this program.
	standings             map[Standing]int
	notApplicable, notRun int
	Shelves               []matrixShelf
	// Choices are the kinds of rows by which the reader can filter.
	Choices []matrixChoice
}

// A matrixShelf is a group of scenarios, as in the catalogue.
type matrixShelf struct {
	Title, Summary string
	Scenarios      []matrixScenario
	// Open says whether the page shows the rows of the group before the reader opens the group:
	// always, only on wide screens (wide), or never ("").
	Open string
}

// A matrixScenario is a scenario with its rows. If Several is set, the scenario has a line
// above its rows.
type matrixScenario struct {
	ID, Name, Title, To string
	Several             bool
	Rows                []matrixRow
}

// A matrixRow is one variant. To is the address of the page about it.
type matrixRow struct {
	Name, Title, To, Assumption string
	// Note distinguishes the row from other rows with the same name, such as by the seed.
	Note string
	// Sorts are the keys of the choices by which the filter shows the row.
	Sorts string
	// Alarms are the badges of standings that need attention.
	Alarms []badge
	Cells  []matrixCell
}

// A matrixChoice is one choice of the filter, with the number of its rows.
type matrixChoice struct {
	Key, Label string
	Count      int
}

// A pageFinder returns a link to the page about the result of a row with the lock of a
// column. The text of the link is a note, or "". If there is no page, it returns the zero
// link.
type pageFinder func(r Row, column int) webpage.Link

// noPage is the pageFinder of a matrix whose results have no pages.
func noPage(Row, int) webpage.Link { return webpage.Link{} }

// page returns the matrix for a page.
func (m *Matrix) page(pages pageFinder) matrixTable {
	t := matrixTable{
		Locks:     eachVisible(m.Locks),
		Heads:     []string{"scenario", "assumption"},
		Pair:      []string{fencingNames[scenarios.Off], fencingNames[scenarios.On]},
		standings: map[Standing]int{}, notRun: m.NotRun(),
	}
	if len(m.Locks) == 0 {
		t.Heads = append(t.Heads, namesOf(checks.PropertiesOf(checks.SubjectExclusion))...)
	}
	t.Columns = len(t.Heads) + 2*max(1, len(m.Locks))
	ids, counts := pageNames{}, map[string]int{}
	for n, shelf := range m.shelves() {
		group := matrixShelf{Title: shelf.Title}
		if n == 0 {
			group.Open = "wide"
		}
		onShelf, rows := map[string]int{}, t.Rows
		for _, s := range shelf.Scenarios {
			out := matrixScenario{
				ID: "row-" + ids.name(s.Name), Name: story.Visible(s.Name), Title: story.Visible(textwrap.OneLine(s.Title)) + withChanges(s, nil),
				Several: len(shelf.rows[s]) > 1 || shelf.rows[s][0].Variant.Name != "",
			}
			for _, r := range shelf.rows[s] {
				row := m.row(r, pages)
				for _, key := range strings.Fields(row.Sorts) {
					onShelf[key]++
				}
				if len(row.Alarms) > 0 {
					group.Open = "always"
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
			group.Scenarios = append(group.Scenarios, out)
		}
		group.Summary = summarizeShelf(t.Rows-rows, onShelf)
		t.Shelves = append(t.Shelves, group)
		for key, n := range onShelf {
			counts[key] += n
		}
	}
	for _, s := range listKinds {
		if n := counts[s.key]; n > 0 {
			t.Choices = append(t.Choices, matrixChoice{s.key, s.label, n})
		}
	}
	return t
}

// summarizeShelf counts the rows of a group by the kinds of the filter: "3 variants: 2 safe
// only with fencing, 1 safe without fencing".
func summarizeShelf(rows int, counts map[string]int) string {
	var parts []string
	for _, s := range listKinds {
		if n := counts[s.key]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.label))
		}
	}
	return story.Count(rows, "variant") + ": " + strings.Join(parts, ", ")
}

// summary counts the rows by standing: "3 variants of 2 scenarios, with 2 locks: 3 as
// expected, 0 not as expected, 0 unknown".
func (t matrixTable) summary() string {
	scenarios := 0
	for _, shelf := range t.Shelves {
		scenarios += len(shelf.Scenarios)
	}
	text := story.Count(scenarios, "scenario")
	if t.Rows > scenarios {
		text = story.Count(t.Rows, "variant") + " of " + text
	}
	lock := "this lock"
	if len(t.Locks) > 0 {
		text += ", with " + story.Count(len(t.Locks), "lock")
		lock = "some lock"
	}
	text += ": " + standingsWords(t.standings, lock)
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

// row returns one variant for a page.
func (m *Matrix) row(r Row, pages pageFinder) matrixRow {
	out := matrixRow{Name: story.Visible(r.Variant.Name), Assumption: r.assumption()}
	if title := story.Visible(textwrap.OneLine(r.Variant.Title)); title != story.Visible(textwrap.OneLine(r.Scenario.Title)) {
		out.Title = title
	}
	found := map[listKind]bool{}
	for column, c := range r.Cells {
		page := pages(r, column)
		out.Note = cmp.Or(out.Note, page.Text)
		e := matrixEntry{r, c, page.To, len(m.Locks) > 0}
		if out.To == "" {
			out.To = e.address(variantAnchor(r.Variant))
		}
		out.Cells = append(out.Cells, e.cells()...)
		found[c.kind()] = true
	}
	for _, standing := range r.standings() {
		if slices.Contains(alarms, standing) {
			out.Alarms = append(out.Alarms, standingBadges[standing])
		}
		found[unexpectedResult] = found[unexpectedResult] || standing == NotAsExpected
	}
	var keys []string
	for kind, s := range listKinds {
		if found[listKind(kind)] {
			keys = append(keys, s.key)
		}
	}
	out.Sorts = strings.Join(keys, " ")
	return out
}

// pageSpelling returns the spelling for pages.
func pageSpelling() spelling {
	w := spellingInFull()
	w.unsafe, w.safe, w.unknown, w.notApplicable = "✗ unsafe", "✓ safe", "? unknown", "– n/a"
	w.caveat = func(p checks.Property) string { return "! safe, but ✗ " + string(p) }
	w.unknownWhy = "the run is inconclusive; the box at the top says why"
	return w
}
