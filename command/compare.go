package command

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// compareFlags are the flags of the compare command.
type compareFlags struct {
	commonFlags[*reports.Tally]
	overrideFlags
	locks []string
	seeds int
	// isDefault reports whether the command line names no scenarios.
	isDefault bool
}

func compareCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare [FILE|DIR|NAME...]",
		Short: "Compare locks: what breaks each of them, and what it costs, over many seeds",
		Long: `Compare locks: run the same scenarios with each of them, without fencing tokens and
with them, on many seeds. Each lock is a row. The report counts what broke, and shows
the measures that the scenarios name.

The report begins with an answer in words for each lock, and with the locks that fit a
need. Without arguments the scenarios are those of the group systems that are about
locks of all systems. Without --lock the locks are all of which the scenarios expect
something.

` + statusesHelp + `

Runs with a lock of which a scenario expects nothing do not count.`,
		Example: `  locksim compare
  locksim compare --lock single,redlock,etcd --seeds 100
  locksim compare same-gc-pause gc-pause --lock redlock,redsync
  locksim compare --format markdown -o comparison.md
  locksim compare --format html -o site/`,
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.commonFlags.define(cmd, "comparison", reports.Tallies)
	flags := cmd.Flags()
	flags.Lookup("output").Usage = "write the comparison to this `file`, as a whole or not at all; with --format html, a folder, as in site/, also gets a page for each scenario and lock; - is standard output"
	flags.Lookup("seed").Usage = "the first seed"
	flags.IntVar(&f.seeds, "seeds", 5, "on how many seeds each scenario is run")
	flags.StringSliceVar(&f.locks, "lock", nil, "compare these `kinds` of locks, a row each")
	completeList(cmd, "lock", locks.Names())
	f.overrideFlags.define(cmd)
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	f.isDefault = len(args) == 0
	found, err := loadOrDefault(args, f.locks, systemScenarios)
	if err != nil {
		return err
	}
	if found, err = f.applyAll(cmd.ErrOrStderr(), found); err != nil {
		return err
	}
	o := reports.Options{Arguments: argumentsOf(found...)}
	planned := f.newTally(found)
	for i, row := range planned.Rows {
		for column, lock := range planned.Locks {
			planned.Rows[i].Cells[column].Runs = plannedRuns(row.Variant, lock)
		}
	}
	if err := f.prepare(cmd, format, planned, o, sourcesOf(found)); err != nil {
		return err
	}
	t, err := f.runAll(cmd.ErrOrStderr(), found)
	if err != nil {
		return failure{unexpected, err}
	}
	if err := f.write(cmd, format, t, o); err != nil {
		return err
	}
	noteNotRun(cmd.ErrOrStderr(), "compare", &t.Matrix)
	if !t.AsExpected() {
		return failure{status: unexpected}
	}
	return nil
}

// systemScenarios returns the scenarios of the group systems, which apply to locks of every system,
// in the order of the catalogue. It leaves out a scenario whose own lock occurs in no other
// scenario of the group, because most locks could not be compared by it.
func systemScenarios() []input {
	found := slices.DeleteFunc(builtIn(), func(in input) bool { return in.Group != "systems" })
	uses := map[string]int{}
	for _, in := range found {
		for _, lock := range in.Variants[0].Locks() {
			uses[lock]++
		}
	}
	found = slices.DeleteFunc(found, func(in input) bool { return uses[in.Variants[0].Lock] < 2 })
	var all []*scenarios.Scenario
	for _, in := range found {
		all = append(all, in.Scenario)
	}
	var order []*scenarios.Scenario
	for _, shelf := range scenarios.GroupScenarios(all) {
		order = append(order, shelf.Scenarios...)
	}
	slices.SortFunc(found, func(a, b input) int {
		return slices.Index(order, a.Scenario) - slices.Index(order, b.Scenario)
	})
	return found
}

// newTally returns a tally, which counts the results of each scenario with each lock, without
// results. Its locks are those that the flags name, or else those for which the scenarios have an
// expectation.
func (f *compareFlags) newTally(found []input) *reports.Tally {
	var stories []*scenarios.Scenario
	var kinds []string
	for _, in := range found {
		stories = append(stories, in.Scenario)
		for _, v := range in.Variants {
			for _, lock := range v.Locks() {
				if !slices.Contains(kinds, lock) {
					kinds = append(kinds, lock)
				}
			}
		}
	}
	if len(f.locks) > 0 {
		kinds = f.locks
	}
	t := reports.NewTally(stories, kinds, f.seed)
	t.Seeds = f.seeds
	return t
}

// runAll runs every scenario with every lock on every seed. It returns the first error.
func (f *compareFlags) runAll(stderr io.Writer, found []input) (*reports.Tally, error) {
	inputs := map[*scenarios.Scenario]input{}
	for _, in := range found {
		inputs[in.Scenario] = in
	}
	t := f.newTally(found)
	progress := newProgress(stderr, len(t.Rows)*len(t.Locks))
	defer progress.clear()
	// Usually a lock is run only with the scenarios that expect something of it, so its numbers
	// do not depend on --lock. It is run with all scenarios if --lock names it and the user has
	// chosen the scenarios, or if no scenario expects anything of it.
	onlyExpected := make([]bool, len(t.Locks))
	for column, lock := range t.Locks {
		onlyExpected[column] = len(f.locks) == 0 || f.isDefault && slices.ContainsFunc(t.Rows, func(r reports.Row) bool { return slices.Contains(r.Variant.Locks(), lock) })
	}
	for i, row := range t.Rows {
		for column, lock := range t.Locks {
			progress.next(row.Scenario.Name + ", " + lock)
			if onlyExpected[column] && !slices.Contains(row.Variant.Locks(), lock) {
				t.Add(i, column, f.seed, nil, "the scenario expects nothing of "+lock)
				continue
			}
			if why := notRunReason(lock, ""); why != "" {
				t.Rows[i].Cells[column].NotRun = why
				continue
			}
			for n := range f.seeds {
				o := scenarios.RunOptions{Seed: f.seed + uint64(n), Lock: lock, Patience: f.timeout}
				runs, notApplicable, err := runBoth(inputs[row.Scenario], row.Variant, o)
				if err != nil {
					return nil, err
				}
				t.Add(i, column, o.Seed, runs, notApplicable)
				if notApplicable != "" {
					break // the scenario does not apply to this lock, whatever the seed
				}
			}
		}
	}
	return t, nil
}

// check checks the values of the flags, before any file is read.
func (f *compareFlags) check() (reports.Format[*reports.Tally], error) {
	format, err := f.chosenFormat()
	if err != nil {
		return format, err
	}
	if f.seeds < 1 || f.seeds > maxSeeds {
		return format, fmt.Errorf("locksim: --seeds is %d; give a number from 1 to %d", f.seeds, maxSeeds)
	}
	if err := checkLocks(f.locks); err != nil {
		return format, err
	}
	return format, f.commonFlags.check(format)
}

// maxSeeds limits --seeds, because a greater number is probably a typing error.
const maxSeeds = 100_000
