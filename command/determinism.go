package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// checkDeterminism runs all jobs, each a scenario with one lock, again: as often as reruns says.
// results are those of the first time. If the events are always the same, it prints a note.
// Otherwise it returns an error with the first event that differs.
func checkDeterminism(stderr io.Writer, jobs []job, results []*scenarios.Result, o scenarios.RunOptions, report reports.Options, reruns int) error {
	if reruns == 0 {
		return nil
	}
	if err := compareReruns(stderr, jobs, results, o, report, reruns); err != nil {
		return err
	}
	worlds := 0
	for _, r := range results {
		worlds += len(r.Runs)
	}
	return printLine(stderr, "deterministic: %d worlds, each run %d more times, gave the same events", worlds, reruns)
}

// compareReruns runs all jobs again and compares the traces.
func compareReruns(stderr io.Writer, jobs []job, results []*scenarios.Result, o scenarios.RunOptions, report reports.Options, reruns int) error {
	progress := newProgress(stderr, len(results)*reruns)
	defer progress.clear()
	for i, first := range results {
		o := jobs[i].options(o)
		for n := range reruns {
			progress.next(first.Scenario.Name)
			rerun, err := scenarios.Run(first.Scenario, o)
			if err != nil {
				return errors.Join(fmt.Errorf("locksim: run %d: %w", n+2, err), replayError(first.Scenario, o, report))
			}
			for k, run := range first.Runs {
				if difference := trace.FirstDifference(run.History.Trace, rerun.Runs[k].History.Trace); difference.Event > 0 {
					lines := []error{
						fmt.Errorf("locksim: not deterministic: %s %s, fencing %s: run %d differs from the first at event %d", first.Scenario.Name, run.Variant.Name, run.Fencing, n+2, difference.Event),
						errors.New("  first: " + difference.First),
						errors.New("  then:  " + difference.Second),
					}
					return errors.Join(append(lines, fmt.Errorf("%w --check-determinism %d", replayError(first.Scenario, o, report), reruns))...)
				}
			}
		}
	}
	return nil
}
