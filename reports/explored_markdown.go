package reports

import (
	"io"

	"github.com/locksim/locksim/internal/explore"
)

// writeExploredMarkdown writes the result of a search in Markdown, as the summary of a pull
// request. Links to scenario files are relative to the directory in which locksim runs.
func writeExploredMarkdown(w io.Writer, r *explore.Result, o Options) error {
	d := exploredDocument(r, o.Since)
	d.addComparison(r, o.Since)
	found, ranOn := wayLists(r, o.Since)
	for _, l := range []wayList{found, ranOn} {
		pieces := []piece{paragraph(l.explanation), l.fullTable(r)}
		for i, w := range l.ways {
			pieces = append(pieces, listing{"Way " + l.number(i) + ": what the lock did", stack(w, exploredWidth)})
		}
		if len(l.ways) > 0 {
			d.add(l.heading(), pieces...)
		}
	}
	for _, c := range charts(r.Maps) { // each line of a chart has its signs after the label, so no line can end the code block
		d.add(c.title(), figure(c.draw(Palette{}, exploredWidth)+"\n"+chartLegend(exploredWidth, c)))
	}
	d.addCoverage(r)
	md := &markdownText{level: 2}
	md.document(d)
	return md.writeTo(w)
}
