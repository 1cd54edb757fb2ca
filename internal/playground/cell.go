package playground

import (
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/peril"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/whatif"
)

// A Cell is one cell of a danger map (a table of what a fault does: a row for each moment, a
// column for each size). It says what one world does to the data and to the lock.
type Cell struct {
	// Sign is one character for what happens, Level its class in the style sheet, and Means
	// its name in words.
	Sign  string `json:"sign"`
	Level string `json:"level"`
	Means string `json:"means"`
	// Off and On are the verdicts without and with fencing tokens; "" if the world is
	// impossible.
	Off string `json:"off"`
	On  string `json:"on"`
}

// cell runs the world, and summarizes its runs by the worst peril of them.
func (w *world) cell() (*Cell, error) {
	both, err := w.runBoth(w.after, whatif.IsFencingIdle)
	if err != nil {
		return nil, err
	}
	worst := peril.Unharmed
	for _, run := range both {
		result := runs.ResultOf(runs.JudgedRun{History: run.History, Verdict: run.Verdict, Ending: run.History.Trace.Ending})
		worst = max(worst, peril.Of(explore.DangerOf(result), run.Fencing))
	}
	return &Cell{worst.Sign(), worst.Level(), story.Visible(worst.Meaning()), both[0].Verdict.Verdict, both[len(both)-1].Verdict.Verdict}, nil
}
