package command

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

// maxTurnEvents is the most events of both runs with which the nearest turn is searched. The
// search runs about twenty worlds, and should not take longer than a fraction of a second.
const maxTurnEvents = 800

// findTurns finds the nearest change that turns the verdict of a changed and safe scenario,
// for a report that people read. It searches only if there is one result, of one variant with
// few events, because a report should not wait for it.
func findTurns(results []*scenarios.Result, format string, o scenarios.RunOptions) (map[*history.History]*whatif.Turn, error) {
	if len(results) != 1 || len(results[0].Scenario.Overrides) == 0 || len(results[0].Runs) != 2 || format != "text" && format != "markdown" {
		return nil, nil
	}
	runs, events := results[0].Runs, 0
	isUnfit := func(run scenarios.RunResult) bool {
		return run.History == nil || run.Verdict.Verdict != checks.Safe
	}
	if slices.ContainsFunc(runs, isUnfit) {
		return nil, nil
	}
	for _, run := range runs {
		events += run.History.EventCount()
	}
	if events > maxTurnEvents {
		return nil, nil
	}
	o.Lock = runs[0].Lock
	turn, err := whatif.FindNearestTurn(results[0].Scenario, o)
	if err != nil || turn == nil {
		return nil, wrapTurnError(err)
	}
	found := map[*history.History]*whatif.Turn{}
	for _, run := range runs {
		found[run.History] = turn
	}
	return found, nil
}

// wrapTurnError says during what an error happened; nil stays nil.
func wrapTurnError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("locksim: when looking for the change that turns the verdict: %w", err)
}
