package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/repository"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// explainFlags are the flags of the explain command.
type explainFlags struct {
	commonFlags[reports.Results]
	runChoice
	overrideFlags
	locks    []string
	why      whyFlag
	messages bool
}

func explainCommand() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain FILE|NAME|WORD",
		Short: "Show one scenario as a story, or explain a lock, a property or a fault",
		Long: `Show one scenario as a story: the setting, a question to think about, what
happened step by step, what broke, what would have prevented it, what each side
of the debate says, and the lesson.

In the timeline, ▸ marks where a fault strikes or ends and where a witness is seen,
and ✗ marks where a property breaks.

A WORD is a lock, such as redlock, a property, such as lease-exclusion, a kind of
fault, such as pause, or a term, such as lease.`,
		Example: `  locksim explain gc-pause
  locksim explain lease-exclusion
  locksim explain delayed-write --variant gives-up --fencing off
  locksim explain clock-jump --lock redsync --format markdown`,
		ValidArgsFunction: completeExplained,
		Args: func(cmd *cobra.Command, args []string) error {
			if _, ok := findTerm(strings.Join(args, " ")); ok {
				return nil // several arguments can be one term, such as fencing token
			}
			return requireOneScenario(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if t, ok := findTerm(strings.Join(args, " ")); ok && len(args) > 1 {
				return t.write(cmd.OutOrStdout())
			}
			if t, ok := findTerm(args[0]); ok && !isPath(args[0]) && cmd.Flags().NFlag() == 0 {
				if err := t.write(cmd.OutOrStdout()); err != nil || !isBuiltIn(args[0]) {
					return err
				}
				// A scenario has the name of the lock that it is about.
				if _, err := io.WriteString(cmd.OutOrStdout(), "\nThe scenario of this name:\n\n"); err != nil {
					return outputError(err)
				}
			}
			return f.run(cmd, args[0])
		},
	}
	f.commonFlags.define(cmd, "story", reports.Explanations)
	f.runChoice.define(cmd, completeVariants)
	f.overrideFlags.define(cmd)
	defineLocks(cmd, &f.locks)
	defineWhy(cmd, &f.why)
	cmd.Flags().BoolVar(&f.messages, "messages", false, "add every message to the timeline")
	return cmd
}

func (f *explainFlags) run(cmd *cobra.Command, arg string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	in, err := f.load(arg)
	if err != nil {
		return err
	}
	options := scenarios.RunOptions{Seed: f.seed, Patience: f.timeout}
	jobs := jobsOf([]input{in}, f.locks)
	report := reports.Options{Messages: f.messages, Arguments: map[*scenarios.Scenario]string{}}
	if linked := slices.DeleteFunc(slices.Clone(jobs), func(j job) bool { return !j.isLinked() }); len(linked) == len(jobs) {
		if jobs, err = selectApplicable(cmd.ErrOrStderr(), jobs, options); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		report.Arguments[j.Scenario] = in.argument
	}
	if err := f.prepare(cmd, format, nil, report, sourcesOf([]input{in})); err != nil {
		return err
	}
	var results []*scenarios.Result
	for _, j := range jobs {
		explained := plannedResults([]job{j}, f.seed)
		if j.isLinked() {
			explained, err = runAll(cmd.ErrOrStderr(), []job{j}, options, report)
		} else {
			err = runLinked(explained[0].Runs, j.options(options))
		}
		if err != nil {
			return failure{unexpected, err}
		}
		results = append(results, explained...)
	}
	if err := f.why.find(cmd.ErrOrStderr(), results, format.Name, options, &report); err != nil {
		return failure{unexpected, err}
	}
	if results, err = f.runChoice.selectRuns(results, &report); err != nil {
		return err
	}
	return f.write(cmd, format, results, report)
}

// load reads the scenario, and selects the variant that the flags name.
func (f *explainFlags) load(arg string) (input, error) {
	if !isPath(arg) && !isBuiltIn(arg) && !strings.ContainsAny(arg, "*?[/.") {
		hint := cmp.Or(hintOfTerm(arg), scenarios.DidYouMean(arg, slices.Concat(scenarios.Names(), termNames())), "`locksim list` shows the built-in scenarios, and "+repository.Document("glossary.md")+" the words")
		return input{}, fmt.Errorf("locksim: there is no word, no file and no built-in scenario %q; %s", arg, hint)
	}
	found, err := loadSingle("explain", arg)
	if err != nil {
		return input{}, err
	}
	in, err := f.selectVariant(found)
	if err != nil {
		return input{}, err
	}
	if in, err = f.apply(in); err != nil {
		return input{}, fmt.Errorf("locksim: %s: %w", arg, err)
	}
	return in, nil
}

// check checks the values of the flags, before any file is read.
func (f *explainFlags) check() (reports.Format[reports.Results], error) {
	format, err := f.chosenFormat()
	if err == nil {
		err = f.runChoice.check()
	}
	if err != nil {
		return format, err
	}
	return format, cmp.Or(checkLocks(f.locks), f.why.check(format.Name), f.commonFlags.check(format))
}

// requireOneScenario returns an error if the command line does not name exactly one
// scenario.
func requireOneScenario(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s: name one scenario, not %d; `locksim run` takes several", cmd.CommandPath(), len(args))
	}
	return requireScenarios(cmd, args)
}
