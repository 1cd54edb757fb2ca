package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// runFlags are the flags of the run command.
type runFlags struct {
	reportFlags
	worldFlags
	overrideFlags
	locks  []string
	why    whyFlag
	reruns int
}

func runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run FILE|DIR|NAME...",
		Short: "Run scenarios, without fencing tokens and with them",
		Long: `Run scenarios, without fencing tokens and with them, and report what happened.

Name files, directories with .yaml or .yml files, or built-in scenarios (see locksim
list). An argument that exists as a path is a path.

` + statusesHelp,
		Example: `  locksim run gc-pause
  locksim run scenarios/gc-pause.yaml --lock redsync --seed 7
  locksim run scenarios/ --format json -o report.json
  locksim run scenarios/ --format html -o site/
  locksim run gc-pause --format trace -o trace.json`,
		Args:              requireScenarios,
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.reportFlags.define(cmd, completeVariants)
	f.worldFlags.define(cmd)
	f.overrideFlags.define(cmd)
	defineLocks(cmd, &f.locks)
	defineWhy(cmd, &f.why)
	cmd.Flags().IntVar(&f.reruns, "check-determinism", 0, "run everything this many more `times` and show the first event that differs")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	found, err := f.load(args)
	if err != nil {
		return err
	}
	if found, err = f.applyAll(cmd.ErrOrStderr(), found); err != nil {
		return err
	}
	if err := checkLinked(found, f.locks...); err != nil {
		return err
	}
	options := scenarios.RunOptions{Seed: f.seed, Patience: f.timeout}
	jobs, err := selectApplicable(cmd.ErrOrStderr(), jobsOf(found, f.locks), options)
	if err != nil {
		return err
	}
	if err := f.checkRoom(format, len(jobs)); err != nil {
		return err
	}
	report, err := f.options()
	if err != nil {
		return err
	}
	for _, j := range jobs {
		report.Arguments[j.Scenario] = j.argument
	}
	planned, err := f.runChoice.selectRuns(plannedResults(jobs, f.seed), &report)
	if err != nil {
		return err
	}
	sources := append(sourcesOf(found), fileSources("the report of a search", f.explored...)...)
	if err := f.prepare(cmd, format, planned, report, sources); err != nil {
		return err
	}
	began := time.Now()
	results, err := runAll(cmd.ErrOrStderr(), jobs, options, report)
	if err != nil {
		return failure{unexpected, err}
	}
	if f.output == "" { // a report in a file must be the same in every run
		report.Took = time.Since(began)
	}
	if err := f.why.find(cmd.ErrOrStderr(), results, format.Name, options, &report); err != nil {
		return failure{unexpected, err}
	}
	selected, err := f.runChoice.selectRuns(results, &report)
	if err != nil {
		return err
	}
	if err := f.write(cmd, format, selected, report); err != nil {
		return err
	}
	if err := checkDeterminism(cmd.ErrOrStderr(), jobs, results, options, report, f.reruns); err != nil {
		return failure{unexpected, err}
	}
	return checkResults(selected)
}

// plannedResults returns the results of jobs before they are run.
func plannedResults(jobs []job, seed uint64) []*scenarios.Result {
	var results []*scenarios.Result
	for _, j := range jobs {
		results = append(results, j.plannedResult(seed))
	}
	return results
}

// runAll runs jobs one after the other. It returns the first error.
func runAll(stderr io.Writer, jobs []job, o scenarios.RunOptions, report reports.Options) ([]*scenarios.Result, error) {
	progress := newProgress(stderr, len(jobs))
	defer progress.clear()
	var results []*scenarios.Result
	for _, j := range jobs {
		progress.next(j.Name)
		r, err := scenarios.Run(j.Scenario, j.options(o))
		if errors.Is(err, sim.ErrLate) && !errors.Is(err, sim.ErrHeavy) {
			err = fmt.Errorf("%w with --timeout", err)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("locksim: %w", err), replayError(j.Scenario, j.options(o), report))
		}
		results = append(results, r)
	}
	return results, nil
}

// replayError returns the last line of the error of a failed run: the command that runs it
// again.
func replayError(s *scenarios.Scenario, o scenarios.RunOptions, report reports.Options) error {
	return errors.New("replay: " + reports.Replay(s, o, report))
}

// check checks the values of the flags, before any file is read.
func (f *runFlags) check() (reports.Format[reports.Results], error) {
	format, err := f.reportFlags.check()
	switch {
	case err != nil:
		return format, err
	case f.reruns < 0:
		return format, fmt.Errorf("locksim: --check-determinism is %d; give the number of further runs, 0 or more", f.reruns)
	}
	return format, cmp.Or(checkLocks(f.locks), f.why.check(format.Name), f.worldFlags.check())
}

// selectApplicable returns the jobs that can be run. It checks that every world can be made
// before any is run, because a lock may not work with a scenario's nodes or faults. If
// --lock replaces the scenarios' own locks, it leaves out the variants that do not apply to
// that lock, and prints a note for each. It fails if none remain. Without --lock it fails
// if one scenario cannot be run.
func selectApplicable(stderr io.Writer, jobs []job, o scenarios.RunOptions) ([]job, error) {
	var kept []job
	var errs []error
	for _, j := range jobs {
		applicable, leftOut := j.SelectApplicable(j.options(o))
		if errs = append(errs, leftOut...); applicable != nil {
			j.Scenario = applicable
			kept = append(kept, j)
		}
	}
	if jobs[0].lock == "" || len(kept) == 0 {
		return kept, errors.Join(errs...)
	}
	for _, err := range errs {
		printLine(stderr, "left out: %s", err)
	}
	return kept, nil
}

// checkResults returns a failure if the result of a scenario is unknown or not as expected.
func checkResults(results []*scenarios.Result) error {
	isBad := func(r *scenarios.Result) bool {
		standing := reports.StandingOf(r)
		return standing == reports.NotAsExpected || standing == reports.Undecided
	}
	if slices.ContainsFunc(results, isBad) {
		return failure{status: unexpected}
	}
	return nil
}
