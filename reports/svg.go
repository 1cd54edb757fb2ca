package reports

import (
	"io"
	"slices"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{
		Name: "svg", Title: "slides and papers: the space-time diagram as a picture; with --style storyboard what matters, as a slide",
		Write: writeSVG, Most: 1, Pages: writeSVGPages, Names: svgPageNames,
	})
}

// writeSVG draws all runs of a result in one picture, one below the other. The runs of one
// variant share a time axis.
func writeSVG(w io.Writer, results []*scenarios.Result, o Options) error {
	for _, r := range results {
		picture := drawRuns(r, groupByVariant(r))
		if o.Style == storyboard.StoryboardStyle {
			picture = storyboards(r)
		}
		if _, err := w.Write(picture); err != nil {
			return err
		}
	}
	return nil
}

// writeSVGPages returns the pictures as the files of a folder.
func writeSVGPages(results []*scenarios.Result, o Options) []Page {
	if o.Style == storyboard.StoryboardStyle {
		return storyboardBuilds(results)
	}
	return pagesOf(svgPages)(results, o)
}

// svgPageNames returns the names of all files that [writeSVGPages] may return.
func svgPageNames(results []*scenarios.Result, o Options) []string {
	if o.Style == storyboard.StoryboardStyle {
		return storyboardNames(results)
	}
	return fileNamesOf(svgPages)(results, o)
}

// svgPages returns a file with a picture for each variant of each scenario.
func svgPages(results []*scenarios.Result, _ Options) []plannedPage {
	var pages []plannedPage
	names := pageNames{}
	for _, r := range results {
		for _, runs := range groupByVariant(r) {
			pages = append(pages, plannedPage{names.name(pictureWords(r, runs)...) + ".svg", func() []byte {
				return markPicture(drawRuns(r, [][]scenarios.RunResult{runs}))
			}})
		}
	}
	return pages
}

// pictureWords returns the words for the file name of a picture of a variant's runs.
func pictureWords(r *scenarios.Result, runs []scenarios.RunResult) []string {
	if len(runs) == 1 {
		return runWords(r, runs[0])
	}
	return []string{r.Scenario.Name, runs[0].Variant.Name}
}

// drawRuns draws the runs of some variants of a result in one picture.
func drawRuns(r *scenarios.Result, variants [][]scenarios.RunResult) []byte {
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
	return diagram.Picture(r.Scenario.Title, strips, webpage.Style())
}

// diagramRuns converts runs to the type of package diagram.
func diagramRuns(runs []scenarios.RunResult) []story.Run {
	all := make([]story.Run, len(runs))
	for i, run := range runs {
		all[i] = story.Run{
			History: run.History, Verdict: run.Verdict, Witnesses: run.Witnesses(),
			ID: runAnchor(run.Variant, run.Fencing), Title: fencingNames[run.Fencing],
		}
	}
	return all
}
