package reports

import (
	"html/template"
	"io"
	"slices"

	"github.com/locksim/locksim/internal/explore"
)

// writeExploredHTML writes what a search found as a page of its own.
func writeExploredHTML(w io.Writer, r *explore.Result, o Options) error {
	_, err := w.Write(exploredPage(r, o, noPages).html())
	return err
}

// noPages is for a report beside which there are no pages on scenarios.
func noPages(string) string { return "" }

// A searchPage is what a search found, on a page.
type searchPage struct {
	Title, Incomplete, Summary string
	// Before stands above the maps and the lists of ways, and After below them.
	Before, After []chapter
	Maps          []heatmap
	Lists         []wayCards
}

// A wayCards is a chapter with ways, and what the words in it mean.
type wayCards struct {
	Title, Why string
	Ways       []wayCard
	Legend     []remark
}

// exploredPage lays out what a search found. page is the address of what tells more of
// the scenario in a file; "" if nothing does.
func exploredPage(r *explore.Result, o Options, page func(file string) string) sheet {
	before, after := exploredDocument(r, o.Since), &document{}
	before.addComparison(r, o.Since)
	after.addCoverage(r)
	p := searchPage{
		Title: before.title, Incomplete: before.warning, Summary: before.summary,
		Before: before.chapters, After: after.chapters, Maps: heatmaps(r),
	}
	found, apart := wayLists(r, o.Since)
	known := pictured(legend(r.Ways), r.Ways)
	add := func(l wayList, legend []remark) {
		if len(l.ways) > 0 {
			p.Lists = append(p.Lists, wayCards{l.heading(), l.why, l.cards(r, page), legend})
		}
	}
	add(found, known)
	add(apart, without(pictured(legend(r.RanOn), r.RanOn), known))
	s := newSheet(p.Title, fill("explored.html", p), asset("explored.css"))
	s.Script = template.JS(asset("explored.js"))
	return s
}

// pictured adds to the legend of ways what their bars mean.
func pictured(legend []remark, ways []explore.Way) []remark {
	if slices.ContainsFunc(ways, func(w explore.Way) bool { return len(w.Margins) > 0 }) {
		legend = append(legend, remark{"bar", "the sizes from nothing on: what is survived, then what is not; the dashed line is the TTL"})
	}
	return legend
}
