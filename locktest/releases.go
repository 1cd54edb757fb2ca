package locktest

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// releases counts the calls of release that returned, and how many of these returned an
// error.
type releases struct{ Returned, Failed int }

// releasesIn counts the releases of a run.
func releasesIn(h *history.History) (n releases) {
	for _, c := range h.Calls() {
		if c.Step != trace.Release || c.Ended == nil || c.Crashed != nil {
			continue
		}
		n.Returned++
		if c.Failed() {
			n.Failed++
		}
	}
	return n
}

// add adds the counts of another run.
func (n *releases) add(more releases) {
	n.Returned += more.Returned
	n.Failed += more.Failed
}

// String describes how many releases failed; it is "" if none did.
func (n releases) String() string {
	if n.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d releases failed", n.Failed, n.Returned)
}
