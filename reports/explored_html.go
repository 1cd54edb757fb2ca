package reports

import (
	"fmt"
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
	Lists         []wayList
}

// A wayList is a chapter with ways, and what the words in it mean.
type wayList struct {
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
	cards := wayCards{result: r, page: page, scale: marginScale(r)}
	known := pictured(legend(r.Ways), r.Ways)
	for _, list := range []struct {
		title, why, letter string
		ways               []explore.Way
		legend             []remark
	}{
		{"Ways to break it, the worst first", "", "", r.Ways, known},
		{"Kept apart", whyApart, "r", r.RanOn, without(pictured(legend(r.RanOn), r.RanOn), known)},
	} {
		laid := wayList{Title: fmt.Sprintf("%s (%d)", list.title, len(list.ways)), Why: list.why, Legend: list.legend}
		for i, w := range list.ways {
			card := cards.card(w, list.letter, i+1)
			if n, is := o.Since.news(w); is && list.letter == "" {
				card.News = n.says(o.Since.Since)
			}
			laid.Ways = append(laid.Ways, card)
		}
		if len(laid.Ways) > 0 {
			p.Lists = append(p.Lists, laid)
		}
	}
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
