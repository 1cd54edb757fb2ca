package reports

import (
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// A matrixCell is one cell of a matrix on a page.
type matrixCell struct {
	// Column is the head of the cell's column. Narrow pages show it in the cell, because
	// they have no row of heads.
	Column string
	// Of says what the cell is about, for screen readers.
	Of string
	// Sign and Word are the cell's content, and Mood is the colour. Also is a caveat: a property
	// that is violated although the data is safe.
	Sign, Word, Also, Mood string
	// To is the address to which the cell links; "" if it has no link.
	To string
}

// html returns the cell. A cell without a word shows the outcome of a property as a sign.
func (c matrixCell) html() g.Node {
	says := g.Group{unseen(c.Of), hidden(c.Sign)}
	class, kind := h.Class("exclusion"), "sign "
	if c.Word != "" {
		says = append(says, g.Text(" "+c.Word))
		class, kind = nil, "badge "
	}
	content := h.Span(h.Class(kind+c.Mood), says)
	if c.To != "" {
		content = h.A(h.Class(kind+c.Mood), webpage.Href(c.To), says)
	}
	return h.Td(h.Role("cell"), class, h.Data("column", c.Column), content, g.If(c.Also != "", g.Group{g.Text(" "), h.Small(g.Text(c.Also))}))
}

// A matrixEntry is a variant with one lock. page is the address of the page with the
// details; "" if there is none.
type matrixEntry struct {
	Row
	Cell
	page string
	// several reports whether the matrix compares several locks.
	several bool
}

// cells returns the cells in the columns of the entry's lock.
func (e matrixEntry) cells() []matrixCell {
	without, with := e.verdict(scenarios.Off), e.verdict(scenarios.On)
	if e.several {
		return []matrixCell{without, with}
	}
	var cells []matrixCell
	for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
		cells = append(cells, e.exclusion(p))
	}
	return append(cells, without, with)
}

// describe names the entry and one of its results, for screen readers.
func (e matrixEntry) describe(resultName string) string {
	if e.several {
		return e.Row.name() + ", " + story.Visible(e.Lock) + ", " + resultName + ": "
	}
	return e.Row.name() + ", " + resultName + ": "
}

// address returns the address of a place on the entry's page; "" if there is no page.
func (e matrixEntry) address(anchor string) string {
	if e.page == "" {
		return ""
	}
	return e.page + "#" + anchor
}

// exclusion returns the cell with the outcomes of an exclusion property in both runs. These
// properties are mutual exclusion of leases and of critical sections.
func (e matrixEntry) exclusion(p checks.Property) matrixCell {
	out := matrixCell{Column: string(p), Mood: "soft"}
	var signs, words []string
	outcomes := distinctOutcomes(e.Runs, p)
	for _, o := range outcomes {
		signs, words = append(signs, outcomeBadges[o].Sign), append(words, outcomeClauses[o])
	}
	out.Sign = strings.Join(signs, "→")
	out.Of = e.describe(string(p)) + strings.Join(words, " without fencing, then with fencing ")
	if e.hasRuns() {
		out.Mood = outcomeBadges[worst(outcomes)].Class
		out.To = e.address(variantAnchor(e.Variant))
	}
	return out
}

// verdict returns the cell with the verdict of one run. If the exclusion properties have no
// columns, the cell lists those that are violated.
func (e matrixEntry) verdict(fencing string) matrixCell {
	out := matrixCell{Column: fencingNames[fencing], Of: e.describe(fencingNames[fencing]), Sign: "–", Mood: "soft"}
	if e.several {
		out.Column = story.Visible(e.Lock) + " " + out.Column
	}
	i := slices.IndexFunc(e.Runs, func(run scenarios.RunResult) bool { return run.Fencing == fencing })
	if i < 0 {
		out.Word = "not run"
		if !e.hasRuns() {
			out.Word = "n/a"
		}
		return out
	}
	run := e.Runs[i]
	out.To = e.address(runAnchor(e.Variant, fencing))
	b := runBadge(run)
	out.Sign, out.Word, out.Mood = b.Sign, b.Word, b.Class
	var also []string
	if broke := run.Verdict.Caveats(); len(broke) > 0 {
		also = append(also, "but ✗ "+story.List(broke))
	}
	if broke := violated(run, checks.PropertiesOf(checks.SubjectExclusion)); e.several && len(broke) > 0 {
		also = append(also, "✗ "+story.List(broke))
	}
	out.Also = strings.Join(also, "; ")
	return out
}
