package reports

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/locksim/locksim/internal/slide"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// storyboardOf draws the storyboard of the runs of one variant.
func storyboardOf(r *scenarios.Result, runs []scenarios.RunResult) *storyboard.Board {
	title := r.Scenario.Title
	if name := runs[0].Variant.Name; name != "" {
		title += ": " + name
	}
	return storyboard.Draw(title+withChanges(r.Scenario, runs), diagramRuns(runs))
}

// storyboards draws the storyboards of all variants of a result in one picture, one below
// the other.
func storyboards(r *scenarios.Result) []byte {
	var boards []*storyboard.Board
	for _, runs := range groupByVariant(r) {
		boards = append(boards, storyboardOf(r, runs))
	}
	title := boards[0].Title
	if len(boards) > 1 {
		title = visibleLine(r.Scenario.Title) + withChanges(r.Scenario, r.Runs) // a board's title names its variant
	}
	return slide.Picture(title, boards, webpage.Style())
}

// storyboardBuilds returns the storyboards of all variants as numbered files for slides. The
// first file of a variant has one moment, and each further file has one moment more.
func storyboardBuilds(results []*scenarios.Result) []Page {
	var pages []Page
	names := pageNames{}
	for _, r := range results {
		for _, runs := range groupByVariant(r) {
			board, files := storyboardOf(r, runs), names.buildNames(r, runs)
			for n := range board.Steps {
				picture := slide.Picture(board.Title, []*storyboard.Board{board.Build(n + 1)}, webpage.Style())
				pages = append(pages, Page{files[n], markPicture(picture)})
			}
		}
	}
	return pages
}

// storyboardNames returns the names of all files that [storyboardBuilds] may return.
func storyboardNames(results []*scenarios.Result) []string {
	var all []string
	names := pageNames{}
	for _, r := range results {
		for _, runs := range groupByVariant(r) {
			all = append(all, names.buildNames(r, runs)...)
		}
	}
	return all
}

// buildNames returns the names of as many files as a storyboard of these runs can need.
func (taken pageNames) buildNames(r *scenarios.Result, runs []scenarios.RunResult) []string {
	var names []string
	for n := range storyboard.MaxSteps {
		names = append(names, taken.name(append(pictureWords(r, runs), strconv.Itoa(n+1))...)+".svg")
	}
	return names
}

// markPicture marks a picture as a page of a report, which a later report may replace.
func markPicture(picture []byte) []byte {
	head, body, _ := bytes.Cut(picture, []byte("\n"))
	return slices.Concat(head, []byte("\n<!-- "+pageMark+" -->\n"), body)
}
