package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// safety says, of the runs of a changed scenario that are all safe, why they are, and which
// change would turn the verdict. Then comes the command that finds all small changes. There
// are no pieces for any other runs.
func safety(r *scenarios.Result, runs []scenarios.RunResult, o Options) []piece {
	isOther := func(run scenarios.RunResult) bool {
		return run.Verdict.Verdict != checks.Safe || len(run.History.Trace.Overrides) == 0
	}
	if o.Traces[r.Scenario] != "" || slices.ContainsFunc(runs, isOther) {
		return nil
	}
	text := "This is safe."
	if why := story.WhySafe(runs[0].History, runs[0].Verdict); why != "" {
		text = "This is safe, because " + why.String() + "."
	}
	if t := o.NearestTurns[runs[0].History]; t != nil {
		text += fmt.Sprintf(" With %s it is %s.", story.Visible(t.Override()), turnWords(t.Outcome.Off, t.Outcome.On))
	}
	command := replayOf("why", r.Scenario, []*scenarios.Variant{runs[0].Variant}, "", scenarios.RunOptions{Seed: r.Seed, Lock: runs[0].Lock}, o)
	return []piece{paragraph(text + " This command finds the smallest changes that turn the verdict:"), figure("  " + command + "\n")}
}

// turnWords returns the verdicts of both runs in words.
func turnWords(off, on string) string {
	if off == on {
		return off + ", without fencing and with fencing"
	}
	return off + " without fencing and " + on + " with fencing"
}
