package command

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// matrixFlags are the flags of the matrix command.
type matrixFlags struct {
	commonFlags[*reports.Matrix]
	overrideFlags
	locks []string
	lists bool
}

func matrixCommand() *cobra.Command {
	f := &matrixFlags{}
	cmd := &cobra.Command{
		Use:   "matrix [FILE|DIR|NAME...]",
		Short: "Show the results of all scenarios side by side",
		Long: `Show the results of all scenarios side by side: which assumption each one breaks,
whether the lock was granted twice, whether two clients were in their sections at the
same time, and whether the data survived, without fencing tokens and with them.

Without arguments these are the built-in scenarios. With --lock every scenario is run
with each of these locks.

` + statusesHelp + `

With a lock other than the scenario's own, only the scenario's expectations for that
lock (expect-with) count.`,
		Example: `  locksim matrix
  locksim matrix gc-pause clock-jump --lock single,redlock,redsync
  locksim matrix --format markdown -o matrix.md
  locksim matrix --lock single,redlock --format html -o site/`,
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.commonFlags.define(cmd, "matrix", reports.Matrices)
	cmd.Flags().Lookup("output").Usage = "write the matrix to this `file`, as a whole or not at all; with --format html, name a folder, as in site/, to get a page for each scenario too; - is standard output"
	cmd.Flags().StringSliceVar(&f.locks, "lock", nil, "run every scenario with these `kinds` of locks, a column each")
	completeList(cmd, "lock", locks.Names())
	cmd.Flags().BoolVar(&f.lists, "lists", false, "in text, show the long lists under the matrix, with the reason for each result")
	f.overrideFlags.define(cmd)
	return cmd
}

func (f *matrixFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	found, err := loadOrDefault(args, f.locks, builtIn)
	if err != nil {
		return err
	}
	if found, err = f.applyAll(cmd.ErrOrStderr(), found); err != nil {
		return err
	}
	o := reports.Options{Arguments: argumentsOf(found...), Lists: f.lists}
	if err := f.prepare(cmd, format, f.plannedMatrix(found), o, sourcesOf(found)); err != nil {
		return err
	}
	m, err := f.runAll(cmd.ErrOrStderr(), found)
	if err != nil {
		return failure{unexpected, err}
	}
	if err := f.write(cmd, format, m, o); err != nil {
		return err
	}
	noteNotRun(cmd.ErrOrStderr(), "matrix", m)
	if !m.AsExpected() {
		return failure{status: unexpected}
	}
	return nil
}

// columnLocks returns the locks with which every scenario is run; "" means the own lock of
// each scenario.
func (f *matrixFlags) columnLocks() []string {
	if len(f.locks) == 0 {
		return []string{""}
	}
	return f.locks
}

// plannedMatrix returns the matrix before anything is run. It assumes that every scenario applies
// to every lock.
func (f *matrixFlags) plannedMatrix(found []input) *reports.Matrix {
	m := &reports.Matrix{Seed: f.seed, Locks: f.locks}
	for _, in := range found {
		for _, v := range in.Variants {
			row := reports.Row{Scenario: in.Scenario, Variant: v}
			for _, lock := range f.columnLocks() {
				row.Cells = append(row.Cells, reports.Cell{Lock: cmp.Or(lock, v.Lock), Runs: plannedRuns(v, lock)})
			}
			m.Rows = append(m.Rows, row)
		}
	}
	return m
}

// runAll runs every scenario with every lock. It returns the first error.
func (f *matrixFlags) runAll(stderr io.Writer, found []input) (*reports.Matrix, error) {
	progress := newProgress(stderr, len(found))
	defer progress.clear()
	m := &reports.Matrix{Seed: f.seed, Locks: f.locks}
	columns := f.columnLocks()
	for _, in := range found {
		progress.next(in.Name)
		for _, v := range in.Variants {
			row := reports.Row{Scenario: in.Scenario, Variant: v}
			for _, lock := range columns {
				if why := notRunReason(lock, v.Lock); why != "" {
					row.Cells = append(row.Cells, reports.Cell{Lock: cmp.Or(lock, v.Lock), NotRun: why})
					continue
				}
				o := scenarios.RunOptions{Seed: f.seed, Lock: lock, Patience: f.timeout}
				runs, notApplicable, err := runBoth(in, v, o)
				if err != nil {
					return nil, err
				}
				if lock == "" {
					lock = v.Lock
				}
				row.Cells = append(row.Cells, reports.Cell{Lock: lock, Runs: runs, NotApplicable: notApplicable})
			}
			m.Rows = append(m.Rows, row)
		}
	}
	return m, nil
}

// check checks the values of the flags, before any file is read.
func (f *matrixFlags) check() (reports.Format[*reports.Matrix], error) {
	format, err := f.chosenFormat()
	if err != nil {
		return format, err
	}
	if err := checkLocks(f.locks); err != nil {
		return format, err
	}
	return format, f.commonFlags.check(format)
}
