package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// FrontPage is the file name of a site's front page, which readers open first.
const FrontPage = "index.html"

// longestLink is the maximum length of the name in a link to another page.
const longestLink = 40

// sitePages returns the pages of a site, which is a folder. The front page is a matrix of
// the results. Each result has a page, and so has each search. The links are relative, so
// the folder can be moved.
func sitePages(results []*scenarios.Result, o Options) []plannedPage {
	m, byVariant := matrixOf(results)
	return newSite(m, byVariant, o).pages()
}

// matrixPages returns the pages of a site whose front page is the given matrix.
func matrixPages(m *Matrix, o Options) []plannedPage { return newSite(m, resultsOf(m), o).pages() }

// A site is a matrix with a page for each of its results.
type site struct {
	Options
	matrix *Matrix
	// variantResults maps the variant of each row to its results, one for each column.
	variantResults variantResults
	// results are all results in the order of the matrix, and names the files of their
	// pages. searches are the files of the pages about searches.
	results  []*scenarios.Result
	names    map[*scenarios.Result]string
	searches []string
}

// newSite returns a site. It gives each page its file name.
func newSite(m *Matrix, b variantResults, o Options) *site {
	s := &site{Options: o.forPublication(), matrix: m, variantResults: b, names: map[*scenarios.Result]string{}}
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

// pages returns all pages of the site. The front page is the last, because it links to the
// other pages.
func (s *site) pages() []plannedPage {
	var pages []plannedPage
	for i, r := range s.results {
		pages = append(pages, plannedPage{s.names[r], func() []byte { return scenarioPage(r, s.Options, s.linksOf(i)).HTML() }})
	}
	for i, r := range s.Explored {
		pages = append(pages, plannedPage{s.searches[i], func() []byte {
			page := exploredPage(r, Options{}, s.pageOfFile)
			page.Links = s.withSite(neighbours(s.searches, i, func(i int) string { return exploredLock(s.Explored[i]) }))
			return page.HTML()
		}})
	}
	return append(pages, plannedPage{FrontPage, func() []byte { return s.front().HTML() }})
}

// linksOf returns the links from a result's page to the front page, and to the pages before
// and after it.
func (s *site) linksOf(index int) []webpage.Link {
	files := make([]string, len(s.results))
	for index, r := range s.results {
		files[index] = s.names[r]
	}
	return s.withSite(neighbours(files, index, func(index int) string {
		r := s.results[index]
		if len(s.matrix.Locks) > 0 {
			return story.Visible(r.Scenario.Name) + ", " + story.Visible(r.Lock)
		}
		return story.Visible(r.Scenario.Name)
	}))
}

// withSite returns the links to the parts of the site, and after them the links of a page.
func (o Options) withSite(links []webpage.Link) []webpage.Link {
	return slices.Concat(o.SiteLinks, links)
}

// neighbours returns the links from a page to the front page, to the previous page and to
// the next page. name returns the text of a link.
func neighbours(files []string, i int, name func(int) string) []webpage.Link {
	links := []webpage.Link{{To: FrontPage, Text: "All scenarios"}}
	if i > 0 {
		links = append(links, webpage.Link{To: files[i-1], Text: "← " + textwrap.Clip(name(i-1), longestLink)})
	}
	if i+1 < len(files) {
		links = append(links, webpage.Link{To: files[i+1], Text: textwrap.Clip(name(i+1), longestLink) + " →"})
	}
	return links
}

// linkToResult returns the link to the page about the result of a row with the lock of a
// column. If the results have several seeds, the text of the link is the seed.
func (s *site) linkToResult(r Row, column int) webpage.Link {
	all := s.variantResults[r.Variant]
	if column >= len(all) || all[column] == nil {
		return webpage.Link{}
	}
	link := webpage.Link{To: s.names[all[column]]}
	if _, isSame := seedOf(s.results); !isSame {
		link.Text = fmt.Sprintf("seed %d", all[column].Seed)
	}
	return link
}

// pageOfFile returns the page about the scenario in a file, which may be one that a search
// has written. It returns "" if there is no such page.
func (s *site) pageOfFile(file string) string {
	for _, r := range s.results {
		if file != "" && r.Scenario.File == file {
			return s.names[r]
		}
	}
	return ""
}
