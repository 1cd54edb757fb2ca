package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// A pageFinder returns a link to the page about the result of a row with the lock of a
// column. The text of the link is a note, or "". If there is no page, it returns the zero
// link.
type pageFinder func(r Row, column int) webpage.Link

// noPage is the pageFinder of a matrix whose results have no pages.
func noPage(Row, int) webpage.Link { return webpage.Link{} }

// A matrixTable is a matrix on a page. Each lock has a pair of columns, for the runs without and
// with fencing. If the matrix has no list of locks, there is one pair, and before it a column
// each for mutual exclusion of leases and of critical sections.
//
// The elements have their roles as attributes, because the style of narrow pages shows them as
// blocks, and a browser does not take blocks for parts of a table.
type matrixTable struct {
	*Matrix
	pages pageFinder
}

// html returns the table with all rows, in the groups of the catalogue.
func (t matrixTable) html() g.Node {
	class := "matrix"
	if len(t.Locks) > 0 {
		class += " locks"
	}
	parts, ids := g.Group{h.THead(h.Role("rowgroup"), onLines(t.headRows()...))}, pageNames{}
	for i, s := range t.shelves() {
		parts = append(parts, t.shelfHead(s, i == 0))
		for _, scenario := range s.Scenarios {
			parts = append(parts, t.scenario("row-"+ids.name(scenario.Name), scenario, s.rows[scenario]))
		}
	}
	return h.Table(h.Class(class), h.Role("table"), onLines(parts...))
}

// heads returns the heads of the columns before the pairs.
func (t matrixTable) heads() []string {
	heads := []string{"scenario", "assumption"}
	if len(t.Locks) == 0 {
		heads = append(heads, namesOf(checks.PropertiesOf(checks.SubjectExclusion))...)
	}
	return heads
}

// headRows returns the heads of all columns. With several locks, they take two rows.
func (t matrixTable) headRows() g.Group {
	head := func(text string, attributes ...g.Node) g.Node {
		return h.Th(h.Role("columnheader"), g.Group(attributes), g.Text(text))
	}
	pair := g.Group{head(fencingNames[scenarios.Off], h.Scope("col")), head(fencingNames[scenarios.On], h.Scope("col"))}
	var first, second g.Group
	for _, name := range t.heads() {
		first = append(first, head(name, h.Scope("col"), g.If(len(t.Locks) > 0, h.RowSpan("2"))))
	}
	if len(t.Locks) == 0 {
		return g.Group{matrixRow(first, pair)}
	}
	for _, lock := range t.Locks {
		first = append(first, head(story.Visible(lock), h.Scope("colgroup"), h.ColSpan("2")))
		second = append(second, pair...)
	}
	return g.Group{matrixRow(first), matrixRow(second)}
}

// matrixRow returns a row of the table.
func matrixRow(parts ...g.Node) g.Node { return h.Tr(h.Role("row"), g.Group(parts)) }

// wideHead returns the head of the rows below it, which is as wide as the table.
func (t matrixTable) wideHead(parts ...g.Node) g.Node {
	columns := len(t.heads()) + 2*max(1, len(t.Locks))
	return h.Th(h.Role("rowheader"), h.Scope("rowgroup"), h.ColSpan(strconv.Itoa(columns)), g.Group(parts))
}

// shelfHead returns the title of a group of scenarios, with a summary. Before the reader opens
// the group, the page shows its rows always, only on wide screens, or never: always if a row
// needs attention, and on wide screens if the group is the first.
func (t matrixTable) shelfHead(s shelf, isFirst bool) g.Node {
	var rows []Row
	for _, scenario := range s.Scenarios {
		rows = append(rows, s.rows[scenario]...)
	}
	var open g.Node
	switch {
	case slices.ContainsFunc(rows, func(r Row) bool { return len(r.alarms()) > 0 }):
		open = h.Data("open", "always")
	case isFirst:
		open = h.Data("open", "wide")
	}
	return h.TBody(h.Class("shelf"), open, h.Role("rowgroup"), matrixRow(t.wideHead(
		h.Span(h.Class("shelf-title"), g.Text(s.Title)), g.Text(" "), h.Small(h.Class("soft"), g.Text(summarizeShelf(rows))),
	)))
}

// summarizeShelf counts the rows of a group by the kinds of the filter: "3 variants: 2 safe
// only with fencing, 1 safe without fencing".
func summarizeShelf(rows []Row) string {
	counts := countKinds(rows)
	var parts []string
	for kind, s := range listKinds {
		if n := counts[listKind(kind)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.label))
		}
	}
	return story.Count(len(rows), "variant") + ": " + strings.Join(parts, ", ")
}

// scenario returns the rows of a scenario. If they have names, there is a line with the name and
// the title of the scenario above them. id is the HTML ID.
func (t matrixTable) scenario(id string, s *scenarios.Scenario, rows []Row) g.Node {
	name, title := story.Visible(s.Name), visibleLine(s.Title)+withChanges(s, nil)
	to := ""
	for _, r := range rows {
		to = cmp.Or(to, t.link(r).To)
	}
	var parts g.Group
	if len(rows) == 1 && rows[0].Variant.Name == "" {
		parts = g.Group{t.row(rows[0], matrixName(name, to, ""), title)}
	} else {
		parts = g.Group{h.Tr(h.Class("several"), h.Role("row"), t.wideHead(
			h.Div(h.Class("what"), matrixName(name, to, ""), g.Text(" "), h.Span(h.Class("title"), g.Text(title))),
		))}
		for _, r := range rows {
			named := g.Group{unseen(name + ", "), matrixName(story.Visible(r.Variant.Name), t.link(r).To, "#"+variantAnchor(r.Variant))}
			parts = append(parts, t.row(r, named, r.title()))
		}
	}
	return h.TBody(h.Class("scenario"), h.ID(id), h.Role("rowgroup"), onLines(parts...))
}

// title returns the title of the row's variant; "" if it is that of the scenario.
func (r Row) title() string {
	title := visibleLine(r.Variant.Title)
	if title == visibleLine(r.Scenario.Title) {
		return ""
	}
	return title
}

// link returns the first link of the row to a page about its results. Its text distinguishes
// the row from other rows with the same name, such as by the seed.
func (t matrixTable) link(r Row) webpage.Link {
	for column := range r.Cells {
		if page := t.pages(r, column); page.To != "" {
			return page
		}
	}
	return webpage.Link{}
}

// matrixName returns the name of a row. It is a link to a place on a page, unless page is "".
func matrixName(name, page, place string) g.Node {
	if page == "" {
		return h.Span(h.Class("name"), g.Text(name))
	}
	return h.A(h.Class("name"), webpage.Href(page+place), g.Text(name))
}

// row returns the row of a variant. named and title are what its head shows.
func (t matrixTable) row(r Row, named g.Node, title string) g.Node {
	if note := t.link(r).Text; note != "" {
		title += " (" + note + ")"
	}
	var keys []string
	for _, kind := range r.kinds() {
		keys = append(keys, listKinds[kind].key)
	}
	row := g.Group{
		h.Th(h.Role("rowheader"), h.Scope("row"), h.Div(h.Class("what"), named, g.Text(" "), h.Span(h.Class("title"), g.Text(title),
			g.Map(r.alarms(), func(s Standing) g.Node { return g.Group{g.Text(" "), standingBadges[s].html()} }),
		))),
		h.Td(h.Role("cell"), h.Data("column", "assumption"), g.Text(r.assumption())),
	}
	for column, c := range r.Cells {
		e := matrixEntry{r, c, t.pages(r, column).To, len(t.Locks) > 0}
		row = append(row, g.Map(e.cells(), matrixCell.html)...)
	}
	return h.Tr(h.Class("story"), h.Data("sorts", strings.Join(keys, " ")), h.Role("row"), onLines(row...))
}

// summary counts the rows by standing: "3 variants of 2 scenarios, with 2 locks: 3 as
// expected, 0 not as expected, 0 unknown".
func (m *Matrix) summary() string {
	scenarios, standings, notApplicable := m.countScenarios(), map[Standing]int{}, 0
	for _, r := range m.Rows {
		all := r.standings()
		for _, standing := range all {
			standings[standing]++
		}
		if len(all) == 0 && !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.NotRun != "" }) {
			notApplicable++
		}
	}
	text := story.Count(scenarios, "scenario")
	if len(m.Rows) > scenarios {
		text = story.Count(len(m.Rows), "variant") + " of " + text
	}
	lock := "this lock"
	if len(m.Locks) > 0 {
		text += ", with " + story.Count(len(m.Locks), "lock")
		lock = "some lock"
	}
	text += ": " + standingsWords(standings, lock)
	if notApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", notApplicable)
	}
	if n := m.NotRun(); n > 0 {
		text += fmt.Sprintf(", %d not run", n)
	}
	return text
}

// mood returns the colour of the summary.
func (m *Matrix) mood() string {
	for _, standing := range alarms {
		if slices.ContainsFunc(m.Rows, func(r Row) bool { return slices.Contains(r.standings(), standing) }) {
			return standingBadges[standing].Class
		}
	}
	return "good"
}

// pageSpelling returns the spelling for pages.
func pageSpelling() spelling {
	w := spellingInFull()
	w.unsafe, w.safe, w.unknown, w.notApplicable = "✗ unsafe", "✓ safe", "? unknown", "– n/a"
	w.caveat = func(p checks.Property) string { return "! safe, but ✗ " + string(p) }
	w.unknownWhy = "the run is inconclusive; the box at the top says why"
	return w
}
