package reports

import (
	"io"

	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/internal/webpage"
)

// A tallyPage is the data of a page about a tally.
type tallyPage struct {
	Title string
	// Answer are the tables with which the page begins.
	Answer, Tables []tallyTable
	Legend         facts
	Unusual        []remark
	Surprise       []remark
	NotRun         []remark
	Stories        []remark
}

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
	page := tallyPage{
		Title: tallyTitle, Answer: tables.answer(), Tables: tables.tables(),
		Legend: t.legend(o), Unusual: t.unusual(o), Surprise: t.surprises(o), NotRun: t.notRun(), Stories: t.scenarioList(),
	}
	sheet := webpage.New(tallyTitle, g.Raw(string(fill("tally.html", page))), asset("explored.css"), asset("tally.css"))
	sheet.Links = o.withSite(nil)
	return sheet
}
