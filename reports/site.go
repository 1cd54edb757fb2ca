package reports

import (
	"fmt"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// FrontPage is the file name of the page of a folder to open first, if there is one.
const FrontPage = "index.html"

// longestLink is the maximum length of the name in a link to a neighbour.
const longestLink = 40

// sitePages returns the pages of a folder: the matrix of the results as the front page, a
// page for each result, and one for each search. Their links are relative, so the folder
// can be moved.
func sitePages(results []*scenarios.Result, o Options) []planned {
	m, behind := matrixOf(results)
	return newSite(m, behind, o).pages()
}

// matrixPages returns the same for a matrix.
func matrixPages(m *Matrix, o Options) []planned { return newSite(m, resultsOf(m), o).pages() }

// A site is a matrix with a page for each result behind it.
type site struct {
	Options
	matrix *Matrix
	behind behind
	// results are in the order of the matrix, and names are their files. searches are the
	// files of the searches.
	results  []*scenarios.Result
	names    map[*scenarios.Result]string
	searches []string
}

func newSite(m *Matrix, b behind, o Options) *site {
	s := &site{Options: o.forPublication(), matrix: m, behind: b, names: map[*scenarios.Result]string{}}
	taken := pageNames{"index": true}
	for _, r := range b.inOrder(m) {
		words := []string{r.Scenario.Name}
		if len(m.Locks) > 0 {
			words = append(words, r.Lock)
		}
		s.names[r] = taken.name(words...) + ".html"
		s.results = append(s.results, r)
	}
	for _, r := range o.Explored {
		s.searches = append(s.searches, taken.name("explored", r.Lock)+".html")
	}
	return s
}

// pages returns all pages, the front page last, because it links to the others.
func (s *site) pages() []planned {
	var pages []planned
	for i, r := range s.results {
		pages = append(pages, planned{s.names[r], func() []byte { return scenarioPage(r, s.Options, s.linksOf(i)).html() }})
	}
	for i, r := range s.Explored {
		pages = append(pages, planned{s.searches[i], func() []byte {
			page := exploredPage(r, Options{}, s.way)
			page.Links = neighbours(s.searches, i, func(i int) string { return exploredLock(s.Explored[i]) })
			return page.html()
		}})
	}
	return append(pages, planned{FrontPage, func() []byte { return s.front().html() }})
}

// linksOf returns the links from a result to the front page and to its neighbours.
func (s *site) linksOf(i int) []pageLink {
	files := make([]string, len(s.results))
	for i, r := range s.results {
		files[i] = s.names[r]
	}
	return neighbours(files, i, func(i int) string {
		r := s.results[i]
		if len(s.matrix.Locks) > 0 {
			return story.Visible(r.Scenario.Name) + ", " + story.Visible(r.Lock)
		}
		return story.Visible(r.Scenario.Name)
	})
}

// neighbours returns the links from a page to the front page, to the previous page and to
// the next.
func neighbours(files []string, i int, name func(int) string) []pageLink {
	links := []pageLink{{FrontPage, "All scenarios"}}
	if i > 0 {
		links = append(links, pageLink{files[i-1], "← " + textwrap.Clip(name(i-1), longestLink)})
	}
	if i+1 < len(files) {
		links = append(links, pageLink{files[i+1], textwrap.Clip(name(i+1), longestLink) + " →"})
	}
	return links
}

// wayIn returns the link to the page about the result of a row. If there are several seeds,
// the link names its seed.
func (s *site) wayIn(r Row, column int) pageLink {
	all := s.behind[r.Variant]
	if column >= len(all) || all[column] == nil {
		return pageLink{}
	}
	link := pageLink{To: s.names[all[column]]}
	if _, one := seedOf(s.results); !one {
		link.Text = fmt.Sprintf("seed %d", all[column].Seed)
	}
	return link
}

// way returns the page about the scenario of a file, such as one that a search has written;
// "" if there is none.
func (s *site) way(file string) string {
	for _, r := range s.results {
		if file != "" && r.Scenario.File == file {
			return s.names[r]
		}
	}
	return ""
}
