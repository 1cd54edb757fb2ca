package reports

import (
	"bytes"
	"io"
	"slices"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{Name: "svg", Title: "slides and papers: the space-time diagram as a picture", Write: writeSVG, Most: 1, Pages: pagesOf(svgPages), Names: fileNamesOf(svgPages)})
}

// writeSVG draws all runs of a result in one picture, one below the other. The runs of one
// variant share a time axis.
func writeSVG(w io.Writer, results []*scenarios.Result, _ Options) error {
	for _, r := range results {
		if _, err := w.Write(svg(r, groupByVariant(r))); err != nil {
			return err
		}
	}
	return nil
}

// svgPages returns a file with a picture for each variant of each scenario.
func svgPages(results []*scenarios.Result, _ Options) []plannedPage {
	var pages []plannedPage
	names := pageNames{}
	for _, r := range results {
		for _, runs := range groupByVariant(r) {
			words := []string{r.Scenario.Name, runs[0].Variant.Name}
			if len(runs) == 1 {
				words = runWords(r, runs[0])
			}
			pages = append(pages, plannedPage{names.name(words...) + ".svg", func() []byte {
				head, body, _ := bytes.Cut(svg(r, [][]scenarios.RunResult{runs}), []byte("\n"))
				return slices.Concat(head, []byte("\n<!-- "+pageMark+" -->\n"), body)
			}})
		}
	}
	return pages
}

// svg draws the runs of some variants of a result in one picture.
func svg(r *scenarios.Result, variants [][]scenarios.RunResult) []byte {
	room := diagram.RoomFor(diagramRuns(slices.Concat(variants...)))
	var strips []diagram.Strip
	for _, runs := range variants {
		for i, f := range diagram.Draw(diagramRuns(runs), room) {
			heading := runTitle(runs[i]) + ": " + runs[i].Verdict.Verdict
			if f.LeftOut != "" {
				heading += ". " + f.LeftOut
			}
			strips = append(strips, diagram.Strip{Heading: heading, Figure: f})
		}
	}
	return diagram.Picture(r.Scenario.Title, strips, asset("page.css"))
}

// diagramRuns converts runs to the type of package diagram.
func diagramRuns(runs []scenarios.RunResult) []diagram.Run {
	all := make([]diagram.Run, len(runs))
	for i, run := range runs {
		all[i] = diagram.Run{
			History: run.History, Verdict: run.Verdict, Witnesses: run.Witnesses(),
			ID: runAnchor(run.Variant, run.Fencing), Title: fencingNames[run.Fencing],
		}
	}
	return all
}
