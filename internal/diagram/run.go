// Package diagram draws what happened in runs: as space-time diagrams, which have a lane
// for each process and time from left to right ([Draw]), and as sequence diagrams in the
// language of Mermaid ([Sequence]).
//
// A space-time diagram is made in three steps. First, diagram.go and the files that each
// read one part of a history, such as bands.go, find what is visible and when. Then
// layout.go and the files with its methods give everything a position on a time axis, which
// all runs of one world share. Last, the templates in the folder html write the [Figure].
package diagram

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A Run is one run with its verdict and its names in the diagram.
type Run struct {
	History *history.History
	Verdict *checks.Verdict
	// Witnesses are preconditions of the verdict. The timeline marks the moments at which
	// they are observed.
	Witnesses []trace.Witness
	// ID begins with a letter and is unique within a page. It is the prefix of the HTML IDs
	// of everything that is drawn for the run.
	ID string
	// Title distinguishes the run from the runs that are drawn with it.
	Title string
}

// marks returns the important moments of the run.
func (r Run) marks() []story.Mark { return story.MarksOf(r.History, r.Verdict, r.Witnesses) }
