package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/mutate"
	"github.com/locksim/locksim/internal/mutate/trial"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/reports"
)

// mutateFlags are the flags of the mutate command.
type mutateFlags struct {
	writeFlags[*mutation]
	source    string
	files     []string
	operators []string
	list      bool
	limit     time.Duration
}

func mutateCommand() *cobra.Command {
	f := &mutateFlags{}
	cmd := &cobra.Command{
		Use:   "mutate [PACKAGE] [-- ARGUMENT...]",
		Short: "Make mistakes in a lock, one at a time, and see whether its test notices them",
		Long: `Make mistakes in the source of a lock, one at a time, and run go test on each: does
the test notice it? The report says for each mutant, a copy of the lock with one
mistake, whether the test caught it, and ends with a score and the mutants that
survived.

PACKAGE is the package with the test, by default that of the working directory. If
the lock is in another package, such as a library, name it with --source. No file is
changed: go test compiles each mutant by an overlay. What follows -- is passed to
go test.

The mistakes, and what a lock with each of them does:
` + describeOperators() + `
Exit status:
  0  the test caught every mutant
  1  some mutant survived, or the test could not be run
  2  bad usage, or the test fails without any mutant; no mutant was tried`,
		Example: `  locksim mutate
  locksim mutate --list --only swap-order
  locksim mutate ./internal/lock -- -run TestLock
  locksim mutate --source github.com/go-redsync/redsync/v4 -o score.json --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 1 || n < 0 && len(args) > 1 {
				return fmt.Errorf("locksim mutate: name one package; arguments of go test follow --, as in locksim mutate %s -- %s", args[0], args[1])
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE:              f.run,
	}
	f.define(cmd, "report", mutationFormats)
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", "", "mutate this `package`, which the test imports; by default the package of the test itself")
	flags.StringSliceVar(&f.files, "file", nil, "mutate only these `files` of the package")
	flags.StringSliceVar(&f.operators, "only", nil, "make only these `mistakes`")
	flags.BoolVar(&f.list, "list", false, "show the mutants, and run nothing")
	flags.DurationVar(&f.limit, "timeout", 0, "the time limit for the tests of each mutant; a mutant that exceeds it is caught (default three times as long as the tests take without any mutant, and at least 1m)")
	completeList(cmd, "only", operatorNames())
	complete(cmd, "source", nil)
	return cmd
}

// describeOperators returns a line for each operator, which makes one kind of mistake in a lock.
func describeOperators() string {
	var b strings.Builder
	for _, o := range mutate.Operators() {
		fmt.Fprintf(&b, "  %-24s %s\n", o.Name, textwrap.Wrap(o.Breaks, helpWidth-27, 27))
	}
	return b.String()
}

func operatorNames() (names []string) {
	for _, o := range mutate.Operators() {
		names = append(names, o.Name)
	}
	return names
}

// chosenOperators returns the operators that --only names, by default all.
func (f *mutateFlags) chosenOperators() ([]mutate.Operator, error) {
	for _, name := range f.operators {
		if !slices.Contains(operatorNames(), name) {
			return nil, fmt.Errorf("locksim mutate: --only: there is no mistake %q; %s", name, oneOf(name, operatorNames()))
		}
	}
	return slices.DeleteFunc(mutate.Operators(), func(o mutate.Operator) bool {
		return len(f.operators) > 0 && !slices.Contains(f.operators, o.Name)
	}), nil
}

func (f *mutateFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.chosenFormat()
	if err == nil {
		err = f.writeFlags.check(format)
	}
	if err != nil {
		return err
	}
	operators, err := f.chosenOperators()
	if err != nil {
		return err
	}
	if f.limit < 0 || f.limit == 0 && cmd.Flags().Changed("timeout") {
		return fmt.Errorf("locksim mutate: --timeout is %v; give a time longer than zero", f.limit)
	}
	name, arguments := ".", []string(nil)
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args, arguments = args[:n], args[n:]
	}
	if len(args) > 0 {
		name = args[0]
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	subject, err := trial.Find(ctx, name, f.source, f.files, arguments)
	if err != nil {
		return mutateError(err)
	}
	defer subject.Close()
	m, err := newMutation(subject, operators)
	if err != nil {
		return mutateError(err)
	}
	if err := f.prepare(cmd, format, m, reports.Options{}, fileSources("the source", m.files()...)); err != nil {
		return err
	}
	if !f.list {
		if err := f.try(ctx, cmd, subject, m); err != nil {
			return err
		}
	}
	if err := f.write(cmd, format, m, reports.Options{}); err != nil {
		return err
	}
	switch {
	case m.Untried > 0:
		return errInterrupted
	case m.Tried && m.Caught < m.Counted:
		return failure{status: unexpected}
	}
	return nil
}

// mutateError says which command has failed. An interrupt is no bad input.
func mutateError(err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	if strings.Contains(err.Error(), "go.mod file not found") {
		return fmt.Errorf("locksim mutate: this folder is in no Go module; change to the folder of the lock's module: %w", err)
	}
	return fmt.Errorf("locksim mutate: %w", err)
}

// try runs the tests, first on the lock itself and then on each mutant, a copy with one mistake.
// After an interrupt it keeps the mutants that were tried before.
func (f *mutateFlags) try(ctx context.Context, cmd *cobra.Command, subject *trial.Subject, m *mutation) error {
	progress := newProgress(cmd.ErrOrStderr(), len(m.Mutants)+1)
	defer progress.clear()
	progress.next("the tests without any mutant")
	took, err := subject.RunUnmutated(ctx, cmp.Or(f.limit, time.Hour))
	if err != nil {
		progress.clear()
		return mutateError(err)
	}
	limit := f.limit
	if limit == 0 {
		limit = max(3*took, time.Minute).Round(time.Second)
	}
	for i := range m.Mutants {
		tried := &m.Mutants[i]
		progress.next(fmt.Sprintf("%s:%d %s", tried.File, tried.Line, tried.Operator))
		outcome, err := subject.Try(ctx, tried.mutant, limit)
		if i > 0 && err != nil && ctx.Err() != nil {
			m.Untried, m.Mutants = len(m.Mutants)-i, m.Mutants[:i]
			break
		}
		if err != nil {
			return failure{unexpected, mutateError(err)}
		}
		tried.Result, tried.Test, tried.Why = outcome.Result, outcome.Test, outcome.Why
	}
	m.count()
	return nil
}
