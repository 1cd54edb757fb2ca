package reports

import (
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/locksim/locksim/explore"
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
	if len(r.Ways) > 0 {
		list := wayList{Title: fmt.Sprintf("Ways to break it, the worst first (%d)", len(r.Ways)), Legend: pictured(legend(r.Ways), r.Ways)}
		for i, w := range r.Ways {
			card := cards.card(w, "", i+1)
			if n, is := o.Since.news(w); is {
				card.News = n.says(o.Since.Since)
			}
			list.Ways = append(list.Ways, card)
		}
		p.Lists = append(p.Lists, list)
	}
	if len(r.RanOn) > 0 {
		list := wayList{
			Title: fmt.Sprintf("Kept apart (%d)", len(r.RanOn)), Why: whyApart,
			Legend: without(pictured(legend(r.RanOn), r.RanOn), pictured(legend(r.Ways), r.Ways)),
		}
		for i, w := range r.RanOn {
			list.Ways = append(list.Ways, cards.card(w, "r", i+1))
		}
		p.Lists = append(p.Lists, list)
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
