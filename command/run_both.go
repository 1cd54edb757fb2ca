package command

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// argumentsOf returns for each scenario the argument of the command line that names it.
func argumentsOf(found ...input) map[*scenarios.Scenario]string {
	all := map[*scenarios.Scenario]string{}
	for _, in := range found {
		all[in.Scenario] = in.argument
	}
	return all
}

// runBoth runs one variant with one lock, without fencing tokens and with them. If it
// fails, the error contains the command that runs it again.
func runBoth(in input, v *scenarios.Variant, o scenarios.RunOptions) (runs []scenarios.RunResult, notApplicable string, err error) {
	runs, notApplicable, err = v.RunBoth(o)
	if err != nil {
		err = errors.Join(fmt.Errorf("locksim: %w", err), replayError(in.Scenario, o, reports.Options{Arguments: argumentsOf(in)}))
	}
	return runs, notApplicable, err
}
