package reports

import (
	"io"
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

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

// exploredPage returns the page about a search. The func page returns the address of the
// page about the scenario in a file, or "" if there is none.
func exploredPage(r *explore.Result, o Options, page func(file string) string) webpage.Page {
	before, after := exploredDocument(r, o.Since), &document{}
	before.addComparison(r, o.Since)
	after.addCoverage(r)
	found, ranOn := wayLists(r, o.Since)
	known := withBars(legend(r.Ways), r.Ways)
	cards := wayCards{r, marginBars{r.TTL, marginScale(r)}, page}
	s := webpage.New(before.title, h.Div(h.Class("search"), onLines(
		h.H1(g.Text(before.title)),
		g.If(before.warning != "", h.P(h.Class("badge bad wide"), g.Text(before.warning))),
		lead(before.summary),
		before.html(),
		dangerMaps(r),
		cards.chapter(found, known),
		cards.chapter(ranOn, exclude(withBars(legend(r.RanOn), r.RanOn), known)),
		after.html(),
	)), asset("explored.css"))
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
