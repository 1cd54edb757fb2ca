package reports

import (
	"fmt"
	"html/template"
	"io"

	"github.com/locksim/locksim/scenarios"
)

// A front is what stands on the front page of a site, and on the page of a matrix that
// stands alone.
type front struct {
	Title string
	// Linked says that there are diagrams for the cells to lead to.
	Linked bool
	// Standing says how many rows of the matrix came to what they expect, and Mood how
	// good that is.
	Standing, Mood string
	// Boxes are what is not as expected and what is unknown, and Lists what there is to
	// say of the rest.
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

// A frontBox is what stands out, above the matrix: an item for each row of it.
type frontBox struct {
	ID, Title, Class string
	Items            []remark
}

// A frontSearch is a search that has a page.
type frontSearch struct {
	To, Title, Summary string
	// Map is its first danger map; nil if there is none.
	Map *heatmap
}

const frontTitle = "What breaks the lock"

// frontSigns are the signs of the matrix at a glance.
var frontSigns = []badge{{"good", "✓", "holds"}, {"bad", "✗", "is violated"}, {"doubt", "!", "something else is"}}

// writeMatrixHTML writes the matrix as a page of its own.
func writeMatrixHTML(w io.Writer, m *Matrix, o Options) error {
	alone := front{Table: m.page(noWayIn)}
	_, err := w.Write(alone.of(m, resultsOf(m).inOrder(m), o.forOthers()).sheet().html())
	return err
}

// front is the front page of the site.
func (s *site) front() sheet {
	f := front{Linked: true, Table: s.matrix.page(s.wayIn)}
	for i, r := range s.Explored {
		search := frontSearch{To: s.searches[i], Title: exploredTitle(r), Summary: exploredSummary(r, nil)}
		if maps := heatmaps(r); len(maps) > 0 {
			search.Map = &maps[0]
		}
		f.Searches = append(f.Searches, search)
	}
	page := f.of(s.matrix, s.results, s.Options).sheet()
	if f.Table.Rows > 0 {
		page.Links = append(page.Links, pageLink{"#matrix", "Matrix"})
	}
	if len(f.Searches) > 0 {
		page.Links = append(page.Links, pageLink{"#searches", "Danger maps"})
	}
	return page
}

// of adds what a matrix says besides its table, and how its results were made.
func (f front) of(m *Matrix, results []*scenarios.Result, o Options) front {
	f.Title = frontTitle
	f.Legend, f.Signs = m.legend(pageSpelling()), frontSigns
	f.Boxes = m.boxes()
	for _, l := range m.lists() {
		if l.Sort == surprising || l.Sort == undecided {
			continue // which have a box
		}
		f.Lists = append(f.Lists, l)
	}
	f.Standing, f.Mood = f.Table.summary(), f.Table.mood()
	f.Made = duration(results, 0)
	if seed, one := seedOf(results); one {
		f.Made += fmt.Sprintf(", with the seed %d", seed)
	}
	for _, r := range results {
		f.Replays = append(f.Replays, replay(r, o))
	}
	return f
}

// seedOf is the seed of all results, if there is one.
func seedOf(results []*scenarios.Result) (seed uint64, one bool) {
	for _, r := range results {
		if r.Seed != results[0].Seed {
			return 0, false
		}
		seed, one = r.Seed, true
	}
	return seed, one
}

func (f front) sheet() sheet {
	page := newSheet(frontTitle, fill("index.html", f), asset("matrix.css"), asset("explored.css"))
	page.Script = template.JS(asset("matrix.js"))
	return page
}
