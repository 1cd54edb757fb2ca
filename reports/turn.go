package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// turns says what would turn the verdict of the runs of one variant. If the smallest changes
// are known, they are a table with commands. Otherwise, if all runs of a changed scenario
// are safe, it says why, which change would turn the verdict, and which command finds all
// small changes. In any other case there are no pieces.
func turns(r *scenarios.Result, runs []scenarios.RunResult, o Options) []piece {
	if why := o.Whys[runs[0].History]; why != nil {
		return whyReport{why, o}.answer()
	}
	isOther := func(run scenarios.RunResult) bool {
		return run.Verdict.Verdict != checks.Safe || len(run.History.Trace.Overrides) == 0
	}
	if o.Traces[r.Scenario] != "" || len(runs) < 2 || slices.ContainsFunc(runs, isOther) {
		return nil
	}
	text := "This is safe."
	isOtherwise := func(run scenarios.RunResult) bool {
		return story.WhySafe(run.History) != story.WhySafe(runs[0].History)
	}
	if why := story.WhySafe(runs[0].History); why != "" && !slices.ContainsFunc(runs, isOtherwise) {
		text = "This is safe, because " + why.String() + "."
	}
	if t := o.NearestTurns[runs[0].History]; t != nil {
		text += fmt.Sprintf(" With %s it is %s", story.Visible(t.Override()), turnWords(t.Outcome.Off, t.Outcome.On))
		if b := t.Beyond; b != nil {
			text += fmt.Sprintf("; beyond that, with %s, it is %s", story.Visible(b.Value), turnWords(b.Outcome.Off, b.Outcome.On))
		}
		text += "."
	}
	command := replayOf("why", r.Scenario, []*scenarios.Variant{runs[0].Variant}, "", scenarios.RunOptions{Seed: r.Seed, Lock: runs[0].Lock}, o)
	return []piece{paragraph(text + " This command finds the smallest changes that change the verdict:"), figure("  " + command + "\n")}
}

// turnWords returns the verdicts of both runs in words.
func turnWords(off, on string) string {
	if off == on {
		return off + ", without fencing and with fencing"
	}
	return off + " without fencing and " + on + " with fencing"
}
