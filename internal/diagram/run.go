// Package diagram draws what happened in runs: as space-time diagrams, which have a lane
// for each process and time from left to right ([Draw]), and as sequence diagrams in the
// language of Mermaid ([Sequence]).
//
// A space-time diagram comes to be in three steps: diagram.go and the files that read a
// part of a history, such as bands.go, find what there is to be seen and when; layout.go
// and what belongs to it give that its place on an axis that runs of one world share; and
// the templates of the folder html write the [Figure] down.
package diagram

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A Run is what happened in one run, and how it is called where it is drawn.
type Run struct {
	History *history.History
	Verdict *checks.Verdict
	// Witnesses are seen at moments that the story marks.
	Witnesses []trace.Witness
	// ID begins with a letter, is the run's own within a page, and begins the IDs of
	// all that is drawn of it.
	ID string
	// Title is what people call the run among those that are drawn with it.
	Title string
}

func (r Run) marks() []story.Mark { return story.MarksOf(r.History, r.Verdict, r.Witnesses) }
