package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// sweepFlags are the flags of the sweep command.
type sweepFlags struct {
	commonFlags[*whatif.Sweep]
	overrideFlags
	variantChoice
	steps int
}

func sweepCommand() *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:   "sweep FILE|NAME --set PATH=FROM..TO",
		Short: "Show for which values of one setting a scenario is safe",
		Long: `Run one scenario with many values of one setting, without fencing tokens and with
them, and show the parts of the range (the bands) in which each run is safe.

Exactly one of --set, --ttl, --nodes and --pause has a range, such as 1s..60s or
1..7. The exit status is 0 whatever the runs show.`,
		Example: `  locksim sweep gc-pause --pause 1s..60s
  locksim sweep gc-pause --set lock.ttl=5s..60s --pause 20s --lock redsync
  locksim sweep gc-pause --pause 29s..31s --steps 200 --format json`,
		Args:              requireOneScenario,
		ValidArgsFunction: completeScenario,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.commonFlags.define(cmd, "sweep", reports.Sweeps)
	f.overrideFlags.define(cmd)
	f.variantChoice.define(cmd)
	cmd.Flags().IntVar(&f.steps, "steps", whatif.DefaultSteps, "the number of equal steps in which the range is tried")
	return cmd
}

func (f *sweepFlags) run(cmd *cobra.Command, arg string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	in, err := f.load("sweep", arg)
	if err != nil {
		return err
	}
	path, values, err := f.selectRange(&in)
	if err != nil {
		return fmt.Errorf("locksim: %s: %w", arg, err)
	}
	if err := checkLinked([]input{in}, f.lock); err != nil {
		return err
	}
	report := reports.Options{Arguments: argumentsOf(in)}
	if err := f.prepare(cmd, format, nil, report, sourcesOf([]input{in})); err != nil {
		return err
	}
	defer useOneThread()()
	progress := newCount(cmd.ErrOrStderr()) // how many values must be run to find the borders between verdicts is known only afterwards
	sweep, err := whatif.Run(in.Scenario, path, values, f.steps, scenarios.RunOptions{Seed: f.seed, Lock: f.lock, Patience: f.timeout}, func() { progress.next("values of " + in.Name) })
	progress.clear()
	switch {
	case errors.Is(err, whatif.ErrNoValue):
		return fmt.Errorf("locksim: %s: %w", arg, err)
	case err != nil:
		return failure{unexpected, fmt.Errorf("locksim: %s: %w", arg, err)}
	}
	return f.write(cmd, format, sweep, report)
}

// selectRange returns the one value of the flags that is a range, and changes the scenario by the
// other values.
func (f *sweepFlags) selectRange(in *input) (path string, values whatif.Range, err error) {
	overrides, err := f.overridesOf(*in)
	if err != nil {
		return "", values, err
	}
	var fixed []string
	for _, o := range overrides {
		at, value := cutOverride(o)
		r, isRange, err := whatif.ParseRange(value)
		switch {
		case err != nil:
			return "", values, fmt.Errorf("--set %s: %w", o, err)
		case !isRange:
			fixed = append(fixed, o)
		case path != "":
			return "", values, fmt.Errorf("%s and %s are both ranges; keep one, and give the other a value", path, at)
		default:
			path, values = at, r
		}
	}
	if path == "" {
		return "", values, errors.New("no value is a range; write one, as in --set lock.ttl=5s..60s or --pause 1s..60s")
	}
	for _, o := range fixed {
		if at, value := cutOverride(o); at == path {
			return "", values, fmt.Errorf("%s has a range and the value %s; keep one of them", path, value)
		}
	}
	in.Scenario, err = in.With(fixed...)
	return path, values, err
}

// check checks the values of the flags, before any file is read.
func (f *sweepFlags) check() (reports.Format[*whatif.Sweep], error) {
	const mostSteps = 10_000
	format, err := f.chosenFormat()
	switch {
	case err != nil:
		return format, err
	case f.steps < 1 || f.steps > mostSteps:
		return format, fmt.Errorf("locksim: --steps is %d; give a number from 1 to %d", f.steps, mostSteps)
	}
	return format, cmp.Or(f.variantChoice.check(), f.commonFlags.check(format))
}
