package story

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Run is one run with its verdict and its names in a picture.
type Run struct {
	History *history.History
	Verdict *checks.Verdict
	// Witnesses are preconditions that must have been observed for the verdict to mean
	// anything. The timeline marks the moments at which they are observed.
	Witnesses []trace.Witness
	// ID begins with a letter and is unique within a page. It is the prefix of the HTML IDs
	// of everything that is drawn for the run.
	ID string
	// Title distinguishes the run from the runs that are drawn with it.
	Title string
}

// Marks returns the important moments of the run.
func (r Run) Marks() []Mark { return MarksOf(r.History, r.Verdict, r.Witnesses) }

// FencingNames are the names of the two runs of a world, by their fencing.
var FencingNames = map[string]string{"off": "without fencing", "on": "with fencing"}
