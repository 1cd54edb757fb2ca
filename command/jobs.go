package command

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// A job is a scenario that is run with one lock.
type job struct {
	input
	// lock replaces the scenario's own lock, unless it is "".
	lock string
}

// jobsOf returns a job for each scenario with each of the locks, in this order. Without
// locks, each scenario has its own.
func jobsOf(found []input, kinds []string) []job {
	var jobs []job
	for _, in := range found {
		for _, lock := range kinds {
			jobs = append(jobs, job{in, lock})
		}
		if len(kinds) == 0 {
			jobs = append(jobs, job{input: in})
		}
	}
	return jobs
}

// options returns the options for the runs of the job.
func (j job) options(o scenarios.RunOptions) scenarios.RunOptions {
	o.Lock = j.lock
	return o
}

// isLinked reports whether all locks of the job are linked into this program.
func (j job) isLinked() bool { return checkLinked([]input{j.input}, j.lock) == nil }

// plannedResult returns the result of the job before it is run: without everything that only the
// runs can show.
func (j job) plannedResult(seed uint64) *scenarios.Result {
	r := &scenarios.Result{Scenario: j.Scenario, Lock: cmp.Or(j.lock, j.Variants[0].Lock), Seed: seed}
	for _, v := range j.Variants {
		r.Runs = append(r.Runs, plannedRuns(v, j.lock)...)
	}
	return r
}

// plannedRuns returns the runs of a variant before they are made.
func plannedRuns(v *scenarios.Variant, lock string) []scenarios.RunResult {
	var runs []scenarios.RunResult
	for _, fencing := range fencings {
		runs = append(runs, scenarios.RunResult{Variant: v, Lock: cmp.Or(lock, v.Lock), Fencing: fencing})
	}
	return runs
}

// defineLocks adds the flag --lock to a command that runs scenarios with each of some locks.
func defineLocks(cmd *cobra.Command, kinds *[]string) {
	cmd.Flags().StringSliceVar(kinds, "lock", nil, "use this `kind` of lock instead of the scenario's own; or each of several, as in redlock,etcd")
	completeList(cmd, "lock", locks.Names())
}
