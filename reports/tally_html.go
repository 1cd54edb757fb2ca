package reports

import "io"

// A tallyPage is a tally on a page.
type tallyPage struct {
	Title    string
	Tables   []tallyPageTable
	Legend   facts
	Unusual  []remark
	Surprise []remark
	Stories  []remark
}

// A tallyPageTable is a table with an ID.
type tallyPageTable struct {
	tallyTable
	ID string
}

func writeTallyHTML(w io.Writer, t *Tally, o Options) error {
	_, err := w.Write(t.sheet(noWayIn, o.forOthers()).html())
	return err
}

// tallyPages are the tally, and a page for each story with each lock on the first seed.
func tallyPages(t *Tally, o Options) []Page {
	s := newSite(&t.Matrix, resultsOf(&t.Matrix), o)
	var pages []Page
	for _, p := range s.pages() {
		if p.Name != FrontPage {
			pages = append(pages, p)
		}
	}
	return append(pages, Page{FrontPage, t.sheet(s.wayIn, s.Options).html()})
}

// tallyNames are the names of these pages.
func tallyNames(t *Tally, o Options) []string {
	return newSite(&t.Matrix, resultsOf(&t.Matrix), o).files()
}

func (t *Tally) sheet(pages wayIn, o Options) sheet {
	page := tallyPage{Title: tallyTitle, Legend: t.legend(o), Unusual: t.unusual(o), Surprise: t.surprises(o), Stories: t.stories()}
	ids := pageNames{}
	for _, one := range (tallyTables{t, pages}).all() {
		page.Tables = append(page.Tables, tallyPageTable{one, ids.name("table", one.Title)})
	}
	return newSheet(tallyTitle, fill("tally.html", page), asset("explored.css"), asset("tally.css"))
}
