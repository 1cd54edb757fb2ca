// Package diagram draws what happened in runs: as space-time diagrams, which have a lane
// for each process and time from left to right ([Draw]), and as sequence diagrams in the
// language of Mermaid ([Sequence]).
//
// A space-time diagram is made in three steps: diagram.go and the files that read a part of
// a history, such as bands.go, find what is visible and when; layout.go and its companions
// place it on an axis that runs of one world share; and the templates in the folder html
// write the [Figure].
package diagram

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A Run is one run with its names in the diagram.
type Run struct {
	History *history.History
	Verdict *checks.Verdict
	// Witnesses are marked on the timeline when they are seen.
	Witnesses []trace.Witness
	// ID begins with a letter and is unique within a page. It is the prefix of the IDs of
	// everything that is drawn of the run.
	ID string
	// Title is the name of the run among those that are drawn with it.
	Title string
}

func (r Run) marks() []story.Mark { return story.MarksOf(r.History, r.Verdict, r.Witnesses) }
