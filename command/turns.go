package command

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// A whyFlag says whether a report has the smallest changes of a scenario that turn its verdict:
// from safe to unsafe, or back.
type whyFlag bool

// defineWhy defines the flag --why.
func defineWhy(cmd *cobra.Command, f *whyFlag) {
	cmd.Flags().BoolVar((*bool)(f), "why", false, "add the smallest changes that change a verdict, as locksim why finds them; this takes seconds")
}

// turnFormats are the formats in which a report says what would turn a verdict.
var turnFormats = []string{"text", "markdown", "html"}

// check returns an error if a format has no room for what --why finds.
func (f whyFlag) check(format string) error {
	if bool(f) && !slices.Contains(turnFormats, format) {
		return fmt.Errorf("locksim: --why is for the formats %s, not for %s; locksim why has a format json", story.List(turnFormats), format)
	}
	return nil
}

// find adds to the options of a report the changes that would turn the verdicts of results. With
// --why these are the smallest changes. Otherwise it is only the nearest one, and only if the
// search for it is quick.
func (f whyFlag) find(stderr io.Writer, results []*scenarios.Result, format string, o scenarios.RunOptions, report *reports.Options) error {
	if !f {
		report.NearestTurns = findTurns(results, format, o)
		return nil
	}
	defer useOneThread()()
	progress := newCount(stderr)
	defer progress.clear()
	report.Whys = map[*history.History]*whatif.Why{}
	for _, r := range results {
		for _, v := range r.Scenario.Variants {
			runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run scenarios.RunResult) bool { return run.Variant != v || run.History == nil })
			if len(runs) == 0 {
				continue
			}
			one := *r.Scenario
			one.Variants = []*scenarios.Variant{v}
			report.Arguments[&one] = report.Arguments[r.Scenario]
			o.Lock = runs[0].Lock
			why, err := whatif.FindWhy(&one, o, func() { progress.next("changed scenarios of " + r.Scenario.Name) })
			switch {
			case errors.Is(err, whatif.ErrInconclusive): // the report says why it is unknown
				continue
			case err != nil:
				return fmt.Errorf("locksim: when looking for the changes that change the verdict: %w", err)
			}
			for _, run := range runs {
				report.Whys[run.History] = why
			}
		}
	}
	return nil
}

// maxTurnEvents limits the search for the nearest change that turns a verdict: it is made only if
// the two runs have no more events than this together. The search runs about twenty worlds, and
// should not take longer than a fraction of a second.
const maxTurnEvents = 800

// findTurns finds the nearest change that turns the verdict of a changed and safe scenario,
// for a report that people read. It searches only if there is one result, of one variant with
// few events, because a report should not wait for it. It returns nil if a world of the
// search does not end in time.
func findTurns(results []*scenarios.Result, format string, o scenarios.RunOptions) map[*history.History]*whatif.Turn {
	if len(results) != 1 || len(results[0].Scenario.Overrides) == 0 || len(results[0].Runs) != 2 || format != "text" && format != "markdown" {
		return nil
	}
	runs, events := results[0].Runs, 0
	isUnfit := func(run scenarios.RunResult) bool {
		return run.History == nil || run.Verdict.Verdict != checks.Safe
	}
	if slices.ContainsFunc(runs, isUnfit) {
		return nil
	}
	for _, run := range runs {
		events += run.History.EventCount()
	}
	if events > maxTurnEvents {
		return nil
	}
	o.Lock = runs[0].Lock
	turn, err := whatif.FindNearestTurn(results[0].Scenario, o)
	if err != nil || turn == nil { // the report is complete without it
		return nil
	}
	found := map[*history.History]*whatif.Turn{}
	for _, run := range runs {
		found[run.History] = turn
	}
	return found
}
