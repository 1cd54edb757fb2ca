package checks

import "github.com/locksim/locksim/history"

// A judgedRun is the history of a run that is judged and measured.
type judgedRun struct{ *history.History }
