package reports

import (
	"io"
	"slices"

	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/webpage"
)

// writeExploredHTML writes the result of a search as a page.
func writeExploredHTML(w io.Writer, r *explore.Result, o Options) error {
	_, err := w.Write(exploredPage(r, o, noPages).HTML())
	return err
}

// noPages returns no address. It is for a report that has no pages about scenarios to which
// it could link.
func noPages(string) string { return "" }

// A searchPage is the data of the page about a search.
type searchPage struct {
	Title, Incomplete, Summary string
	// Before are the chapters above the danger maps and the lists of ways, and After those
	// below.
	Before, After []chapter
	Maps          []heatmap
	Lists         []wayCards
}

// A wayCards is a chapter of the page with ways to break the lock. Why explains the
// chapter, and Legend explains its words.
type wayCards struct {
	Title, Why string
	Ways       []wayCard
	Legend     []remark
}

// exploredPage returns the page about a search. The func page returns the address of the
// page about the scenario in a file, or "" if there is none.
func exploredPage(r *explore.Result, o Options, page func(file string) string) webpage.Page {
	before, after := exploredDocument(r, o.Since), &document{}
	before.addComparison(r, o.Since)
	after.addCoverage(r)
	p := searchPage{
		Title: before.title, Incomplete: before.warning, Summary: before.summary,
		Before: before.chapters, After: after.chapters, Maps: heatmaps(r),
	}
	found, ranOn := wayLists(r, o.Since)
	known := withBars(legend(r.Ways), r.Ways)
	add := func(l wayList, legend []remark) {
		if len(l.ways) > 0 {
			p.Lists = append(p.Lists, wayCards{l.heading(), l.explanation, l.cards(r, page), legend})
		}
	}
	add(found, known)
	add(ranOn, exclude(withBars(legend(r.RanOn), r.RanOn), known))
	s := webpage.New(p.Title, g.Raw(string(fill("explored.html", p))), asset("explored.css"))
	s.Script = asset("explored.js")
	return s
}

// withBars adds the meaning of the bars on the cards to a legend. A bar shows with
// which sizes of a fault a way happens.
func withBars(legend []remark, ways []explore.Way) []remark {
	if slices.ContainsFunc(ways, func(w explore.Way) bool { return len(w.Margins) > 0 }) {
		legend = append(legend, remark{"bar", "sizes from zero upwards: first those with which this does not happen, then those with which it does; the dashed line is the TTL"})
	}
	return legend
}
