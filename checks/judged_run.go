package checks

import "github.com/locksim/locksim/history"

// A judgedRun is the history of a run, with the methods that judge and measure the run.
type judgedRun struct{ *history.History }
