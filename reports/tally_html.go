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
func tallyPages(t *Tally, o Options) []planned {
	s := newSite(&t.Matrix, resultsOf(&t.Matrix), o)
	pages := s.pages()
	pages[len(pages)-1].data = func() []byte { return t.sheet(s.wayIn, s.Options).html() } // the front page
	return pages
}

func (t *Tally) sheet(pages wayIn, o Options) sheet {
	page := tallyPage{Title: tallyTitle, Legend: t.legend(o), Unusual: t.unusual(o), Surprise: t.surprises(o), Stories: t.stories()}
	ids := pageNames{}
	for _, one := range (tallyTables{t, pages}).all() {
		page.Tables = append(page.Tables, tallyPageTable{one, ids.name("table", one.Title)})
	}
	return newSheet(tallyTitle, fill("tally.html", page), asset("explored.css"), asset("tally.css"))
}
