package reports

import (
	"fmt"
	"io"

	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// A front is the data of the front page of a site, and of the page of a single matrix.
type front struct {
	Title string
	// Linked reports whether the cells of the matrix link to pages with diagrams.
	Linked bool
	// Standing says how many rows of the matrix are as expected. Mood is the colour of that
	// text.
	Standing, Mood string
	// Boxes list the rows that are unknown, and those that are not as expected. Lists list the
	// other rows.
	Boxes    []frontBox
	Table    matrixTable
	Legend   []remark
	Signs    []badge
	Lists    []rowList
	Searches []frontSearch
	// Made says what was run, and Replays are the commands that run it again.
	Made    string
	Replays []string
}

// A frontBox is a highlighted list above the matrix, with an item for each row.
type frontBox struct {
	ID, Title, Class string
	Items            []remark
}

// A frontSearch describes a search that has a page.
type frontSearch struct {
	To, Title, Summary string
	// Map is the search's first danger map as a small picture; nil if it has none.
	Map g.Node
}

const frontTitle = "What breaks the lock"

// frontSigns are the signs that the front page explains above the matrix.
var frontSigns = []badge{{"good", "✓", "holds"}, {"bad", "✗", "is violated"}, {"doubt", "!", "another property is violated"}}

// writeMatrixHTML writes the matrix as a single page.
func writeMatrixHTML(w io.Writer, m *Matrix, o Options) error {
	page := front{Table: m.page(noPage)}
	_, err := w.Write(page.withTexts(m, resultsOf(m).inOrder(m), o.forPublication()).sheet().HTML())
	return err
}

// front returns the front page of the site.
func (s *site) front() webpage.Page {
	f := front{Linked: true, Table: s.matrix.page(s.linkToResult)}
	for i, r := range s.Explored {
		search := frontSearch{To: s.searches[i], Title: exploredTitle(r), Summary: exploredSummary(r, nil)}
		if maps := heatmaps(r); len(maps) > 0 {
			search.Map = maps[0].thumbnail()
		}
		f.Searches = append(f.Searches, search)
	}
	page := f.withTexts(s.matrix, s.results, s.Options).sheet()
	if f.Table.Rows > 0 {
		page.Links = append(page.Links, webpage.Link{To: "#matrix", Text: "Matrix"})
	}
	if len(f.Searches) > 0 {
		page.Links = append(page.Links, webpage.Link{To: "#searches", Text: "Danger maps"})
	}
	page.Links = s.withSite(page.Links)
	return page
}

// withTexts adds the texts around the table of the matrix, and how its results were made.
func (f front) withTexts(m *Matrix, results []*scenarios.Result, o Options) front {
	f.Title = frontTitle
	f.Legend, f.Signs = m.legend(pageSpelling()), frontSigns
	f.Boxes = m.boxes()
	for _, l := range m.lists() {
		if l.Sort == unexpectedResult || l.Sort == unknownResult {
			continue // these rows have a box
		}
		f.Lists = append(f.Lists, l)
	}
	f.Standing, f.Mood = f.Table.summary(), f.Table.mood()
	f.Made = duration(results, 0)
	if seed, isSame := seedOf(results); isSame {
		f.Made += fmt.Sprintf(", with the seed %d", seed)
	}
	for _, r := range results {
		f.Replays = append(f.Replays, replay(r, o))
	}
	return f
}

// seedOf returns the seed of the results. isSame is false if there are several seeds or no
// results.
func seedOf(results []*scenarios.Result) (seed uint64, isSame bool) {
	for _, r := range results {
		if r.Seed != results[0].Seed {
			return 0, false
		}
		seed, isSame = r.Seed, true
	}
	return seed, isSame
}

// sheet returns the page with the data.
func (f front) sheet() webpage.Page {
	page := webpage.New(frontTitle, g.Raw(string(fill("index.html", f))), asset("matrix.css"), asset("explored.css"))
	page.Script = asset("matrix.js")
	return page
}
