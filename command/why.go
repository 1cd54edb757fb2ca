package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// whyFlags are the flags of the why command.
type whyFlags struct {
	commonFlags[*whatif.Why]
	overrideFlags
	variantChoice
}

func whyCommand() *cobra.Command {
	f := &whyFlags{}
	cmd := &cobra.Command{
		Use:   "why FILE|NAME",
		Short: "Show the smallest changes that change the verdict of a scenario",
		Long: `Run one scenario with many changes, each alone, and show the smallest that change a
verdict: another time, number or rate, one fault less, another setting of the lock or
the storage, or one more fault: a pause, a late or a lost message, a partition, a crash
and restart, or a jump of a server's clock.

The exit status is 0 whatever the search finds.`,
		Example: `  locksim why gc-pause
  locksim why clock-jump --lock redsync
  locksim why gc-pause --pause 20s --format json`,
		Args:              requireOneScenario,
		ValidArgsFunction: completeScenario,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.commonFlags.define(cmd, "answer", reports.Whys)
	f.overrideFlags.define(cmd)
	f.variantChoice.define(cmd)
	return cmd
}

func (f *whyFlags) run(cmd *cobra.Command, arg string) error {
	format, err := f.chosenFormat()
	if err == nil {
		err = cmp.Or(f.variantChoice.check(), f.commonFlags.check(format))
	}
	if err != nil {
		return err
	}
	in, err := f.load("why", arg)
	if err != nil {
		return err
	}
	if in, err = f.apply(in); err != nil {
		return fmt.Errorf("locksim: %s: %w", arg, err)
	}
	if err := checkLinked([]input{in}, f.lock); err != nil {
		return err
	}
	options := scenarios.RunOptions{Seed: f.seed, Lock: f.lock, Patience: f.timeout}
	applicable, err := selectApplicable(cmd.ErrOrStderr(), []job{{in, f.lock}}, options)
	if err != nil {
		return err
	}
	in = applicable[0].input
	report := reports.Options{Arguments: argumentsOf(in)}
	if err := f.prepare(cmd, format, nil, report, sourcesOf([]input{in})); err != nil {
		return err
	}
	defer useOneThread()()
	progress := newCount(cmd.ErrOrStderr())
	why, err := whatif.FindWhy(in.Scenario, options, func() { progress.next("changed scenarios of " + in.Name) })
	progress.clear()
	var inconclusive *whatif.Inconclusive
	switch {
	case errors.As(err, &inconclusive):
		how := ""
		if inconclusive.IsChanged {
			how = "judged as any changed run is, by what happened and not by its story, "
		}
		return fmt.Errorf("locksim: %s: %w: %s%s", arg, err, how, story.Visible(string(story.RenderReasons(inconclusive.Reason()))))
	case err != nil:
		return failure{unexpected, fmt.Errorf("locksim: %s: %w", arg, err)}
	}
	return f.write(cmd, format, why, report)
}
