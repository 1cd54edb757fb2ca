package reports

import (
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/webpage"
)

// writeTallyHTML writes the tally as a single page.
func writeTallyHTML(w io.Writer, t *Tally, o Options) error {
	_, err := w.Write(t.sheet(noPage, o.forPublication()).HTML())
	return err
}

// tallyPages returns the page about the tally, and a page for each scenario with each lock,
// with the first seed.
func tallyPages(t *Tally, o Options) []plannedPage {
	s := newSite(&t.Matrix, resultsOf(&t.Matrix), o)
	pages := s.pages()
	pages[len(pages)-1].data = func() []byte { return t.sheet(s.linkToResult, s.Options).HTML() } // replaces the front page
	return pages
}

// sheet returns the page about the tally.
func (t *Tally) sheet(pages pageFinder, o Options) webpage.Page {
	tables := tallyTables{t, pages}
	sheet := webpage.New(tallyTitle, h.Div(h.Class("front"), onLines(
		h.H1(g.Text(tallyTitle)),
		lead("The same scenarios, run with each lock on many seeds. Each cell links to the run on the first seed."),
		g.Map(tables.answer(), tallyTable.html),
		heading("legend", "How to read the tables"),
		t.legend(o).legend(),
		g.Map(tables.tables(), tallyTable.html),
		chapterOf("surprises", "Not as its scenario expects", t.surprises(o)),
		chapterOf("unusual", "Differs between seeds, with a command that shows it", t.unusual(o)),
		chapterOf("not-run", "Not run, and why", t.notRun()),
		chapterOf("stories", "Scenarios", t.scenarioList()),
	)), asset("explored.css"), asset("tally.css"))
	sheet.Links = o.withSite(nil)
	return sheet
}

// html returns the table with its title, and with the sentence about it.
func (t tallyTable) html() g.Node {
	return onLines(
		heading(t.ID, t.Title),
		h.P(h.Class("soft"), g.Text(t.About)),
		h.Div(h.Class("scroll both"), h.TabIndex("0"), h.Role("region"), h.Aria("labelledby", t.ID), t.Table.html()),
	)
}

// chapterOf returns a chapter of remarks; nil if there are none.
func chapterOf(id, title string, remarks entries) g.Node {
	return g.If(!remarks.empty(), onLines(heading(id, title), remarks.html()))
}
