package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// diffFlags are the flags of the diff command.
type diffFlags struct {
	writeFlags[*rundiff.Diff]
	pairFlags
	timeout  time.Duration
	messages bool
}

func diffCommand() *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:   "diff LEFT [RIGHT]",
		Short: "Show two runs side by side, from the first difference",
		Long: `Show two runs side by side: what differs in their settings, how long they are the
same, the steps of both from there on, and which properties and verdicts differ.

LEFT and RIGHT are scenarios (files or names), or saved traces (files of locksim run
--format trace; "-" is standard input).

With one scenario, the left run is the scenario as it is, and the right run has what
the flags --lock, --seed, --set, --ttl, --nodes and --pause change.

A flag can also have two values, with a comma between them: the first is for the left
run, and the second for the right one. If a flag has two values, or there are two
arguments, a flag with one value is for both runs.

Each scenario has a run without fencing tokens and one with them. Without --fencing, the
runs without are compared. The exit status is 0 whatever differs.`,
		Example: `  locksim diff gc-pause --set 'faults[1].for=20s'
  locksim diff gc-pause --lock redlock,etcd
  locksim diff gc-pause --seed 1,2 --pause 20s
  locksim diff gc-pause same-gc-pause --fencing on
  locksim diff before.json after.json`,
		Args:              requireSides,
		ValidArgsFunction: completeSides,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.writeFlags.define(cmd, "comparison", reports.Diffs)
	f.pairFlags.define(cmd)
	cmd.Flags().DurationVar(&f.timeout, "timeout", sim.DefaultPatience, "give up on a world that takes longer than this in real time, or in which nothing happens for half of this time, but at least one second")
	cmd.Flags().BoolVar(&f.messages, "messages", false, "compare every message too")
	return cmd
}

// requireSides returns an error if the command line does not name one or two things to
// compare.
func requireSides(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("locksim diff: name one scenario and what to change, as in locksim diff gc-pause --pause 20s, or two scenarios or saved traces")
	case len(args) > 2:
		return fmt.Errorf("locksim diff: it compares two runs, and the command line names %d; `locksim matrix` shows the results of several scenarios", len(args))
	case len(args) == 2 && args[0] == "-" && args[1] == "-":
		return errors.New("locksim diff: standard input can be only one of the two traces; name a file for the other")
	}
	return nil
}

// completeSides completes the first and the second scenario. The shell itself adds the
// names of files.
func completeSides(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeScenarios(cmd, args, typed)
}

func (f *diffFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.chosenFormat()
	if err == nil {
		err = f.writeFlags.check(format)
	}
	if err == nil {
		err = (&worldFlags{timeout: f.timeout}).check()
	}
	if err != nil {
		return err
	}
	values, err := f.split(args)
	if err != nil {
		return err
	}
	report := reports.Options{Messages: f.messages, Arguments: map[*scenarios.Scenario]string{}, Traces: map[*scenarios.Scenario]string{}}
	var sides [2]*diffSide
	var sources []source
	for i, arg := range []string{args[0], args[len(args)-1]} {
		var read *reports.Saved // the saved trace that both runs are in; it is read only once, because it may be standard input
		if i > 0 && len(args) == 1 {
			read = sides[0].saved
		}
		if sides[i], err = loadSide(cmd.InOrStdin(), arg, values[i], read); err != nil {
			return err
		}
		sources = append(sources, sides[i].sources...)
	}
	switch {
	case sides[0].isSameAs(sides[1]) && sides[0].saved != nil:
		return fmt.Errorf("locksim diff: both runs are the trace %s; name a second trace or a scenario", args[0])
	case sides[0].ignoresVariant() && sides[1].ignoresVariant():
		return fmt.Errorf("locksim diff: neither %s nor %s has variants; leave --variant out", args[0], args[1])
	case sides[0].isSameAs(sides[1]):
		return fmt.Errorf("locksim diff: both runs are %s with the same lock, seed and values; say in what they differ, as in --lock redlock,etcd, --seed 1,2 or --set lock.ttl=10s", args[0])
	}
	chooseFencing(sides)
	if err := f.prepare(cmd, format, nil, report, sources); err != nil {
		return err
	}
	diff := &rundiff.Diff{}
	for i, to := range []*rundiff.Side{&diff.Left, &diff.Right} {
		if *to, err = sides[i].obtain(cmd.ErrOrStderr(), f.timeout, &report); err != nil {
			return err
		}
	}
	return f.write(cmd, format, diff, report)
}

// A diffSide is one of the two runs that are compared, before it is made.
type diffSide struct {
	sideValues
	arg     string
	sources []source
	// A side is either a scenario with one variant (input) or a saved trace (saved).
	input input
	saved *reports.Saved
}

// isSavedTrace reports whether an argument names a file of saved traces, and not a scenario.
// The file need not exist.
func isSavedTrace(arg string) bool {
	info, err := os.Stat(arg)
	if err != nil {
		return arg == "-" || filepath.Ext(arg) == ".json"
	}
	return !info.IsDir() && !isYAML(arg)
}

// loadSide reads the scenario or the saved trace that an argument names. If read is not nil,
// it is that trace.
func loadSide(stdin io.Reader, arg string, values sideValues, read *reports.Saved) (*diffSide, error) {
	s := &diffSide{sideValues: values, arg: arg, saved: read}
	if isSavedTrace(arg) {
		return s, s.loadTrace(stdin)
	}
	in, err := loadSingle("diff", arg)
	s.input = in
	if err == nil && !s.ignoresVariant() {
		in, err = (&variantChoice{variant: values.variant}).selectOne(arg, in)
	}
	if err != nil {
		return nil, err
	}
	if in, err = values.overrides.apply(in); err != nil {
		return nil, fmt.Errorf("locksim: %s: %w", arg, err)
	}
	if err := checkLinked([]input{in}, values.lock); err != nil {
		return nil, err
	}
	s.input, s.sources = in, sourcesOf([]input{in})
	_, leftOut := in.SelectApplicable(s.options())
	return s, errors.Join(leftOut...)
}

// loadTrace reads the saved trace. It fails if the file has traces of several scenarios.
func (s *diffSide) loadTrace(stdin io.Reader) (err error) {
	if s.arg != "-" && !isPath(s.arg) {
		return fmt.Errorf("locksim: there is no file %s; locksim run NAME --format trace -o %s makes one", s.arg, reports.Operand(s.arg))
	}
	if s.isChanged() {
		return fmt.Errorf("locksim: %s is a saved trace, whose lock, seed and values cannot be changed; name its scenario instead", s.arg)
	}
	if s.saved == nil {
		if s.saved, err = readSaved(stdin, []string{s.arg}); err != nil {
			return err
		}
		s.sources = savedSources(stdin, []string{s.arg})
	}
	if n := len(s.saved.Results); n > 1 {
		return fmt.Errorf("locksim: %s has the traces of %d scenarios, and diff compares one run; save the scenario by itself", s.arg, n)
	}
	r := s.saved.Results[0]
	if s.variant == "" && len(r.Scenario.Variants) > 1 {
		return severalVariantsError(s.arg, r.Scenario)
	}
	return nil
}

// ignoresVariant reports whether --variant has no effect on this side: the flag is for both of two
// scenarios, and this one has no variants.
func (s *diffSide) ignoresVariant() bool {
	return s.saved == nil && s.isVariantShared && s.variant != "" && s.input.Variants[0].Name == ""
}

// options returns the options for running the scenario.
func (s *diffSide) options() scenarios.RunOptions {
	return scenarios.RunOptions{Seed: s.seed, Lock: s.lock}
}

// isSameAs reports whether two sides are the same run of the same scenario.
func (s *diffSide) isSameAs(o *diffSide) bool {
	isSameChoice := s.arg == o.arg && s.fencing == o.fencing && s.variant == o.variant
	if s.saved != nil || o.saved != nil || !isSameChoice {
		return isSameChoice
	}
	lock := func(s *diffSide) string { return cmp.Or(s.lock, s.input.Variants[0].Lock) }
	return lock(s) == lock(o) && s.seed == o.seed && slices.Equal(s.input.Overrides, o.input.Overrides)
}

// chooseFencing chooses the runs to compare, if --fencing does not: those without fencing
// tokens, unless a saved trace has only the run with them.
func chooseFencing(sides [2]*diffSide) {
	fencing := scenarios.Off
	for _, s := range sides {
		if s.saved != nil && !slices.ContainsFunc(s.saved.Results[0].Runs, func(run scenarios.RunResult) bool { return run.Fencing == scenarios.Off }) {
			fencing = scenarios.On
		}
	}
	for _, s := range sides {
		if s.fencing == "" {
			s.fencing = fencing
		}
	}
}

// obtain makes the run, or takes it from the saved trace. It adds to the options of the report the
// argument that names the scenario on the command line.
func (s *diffSide) obtain(stderr io.Writer, timeout time.Duration, report *reports.Options) (rundiff.Side, error) {
	if s.saved != nil {
		o := reports.Options{Arguments: s.saved.Arguments, Traces: s.saved.Traces}
		results, err := (&runChoice{variant: s.variant, fencing: s.fencing}).selectRuns(s.saved.Results, &o)
		if err != nil {
			return rundiff.Side{}, fmt.Errorf("locksim: %s: %w", s.arg, errors.Unwrap(err))
		}
		for _, note := range s.saved.Notes {
			printLine(stderr, "%s: %s", s.arg, note)
		}
		chosen := results[0].Scenario
		if argument, ok := o.Arguments[chosen]; ok {
			report.Arguments[chosen] = argument
		}
		if file, ok := o.Traces[chosen]; ok {
			report.Traces[chosen] = file
		}
		return rundiff.Side{Result: results[0], File: s.arg}, nil
	}
	options := s.options()
	options.Patience = timeout
	v := s.input.Variants[0]
	report.Arguments[s.input.Scenario] = s.input.argument
	run, err := v.Run(options, s.fencing)
	if err != nil {
		return rundiff.Side{}, failure{unexpected, errors.Join(fmt.Errorf("locksim: %w", err), replayError(s.input.Scenario, options, *report))}
	}
	return rundiff.Side{Result: scenarios.NewResult(s.input.Scenario, run.Lock, s.seed, []scenarios.RunResult{run})}, nil
}
