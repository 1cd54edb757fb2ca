package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/locksim/locksim/internal/repository"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/exercises"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/reports"
)

// learnCheckFlags are the flags of learn check.
type learnCheckFlags struct {
	stage    int
	replay   string
	messages bool
	// width is how many columns the report has.
	width int
}

func learnCheckCommand() *cobra.Command {
	f := &learnCheckFlags{}
	cmd := &cobra.Command{
		Use:   "check DIR|FILE",
		Short: "Say which stage the lock has reached, or whether a scenario solves its exercise",
		Long: `Say which stage the lock in a folder of locksim learn new has reached, and why not the
next. It compiles the lock, and runs it in worlds that the exercise does not show. It
changes no file. The seeds of the worlds depend on the text of the lock. What the lock
prints is shown with --replay only.

With the FILE of a scenario, it says whether the scenario solves its exercise:
` + exercises.ScenarioNames() + `.

Exit status:
  0  the lock has reached the stage of --stage, by default the last; the scenario solves
     its exercise
  1  it has not, or the lock does not compile
  2  bad usage, or the folder is not that of the exercise`,
		Example: `  locksim learn check .
  locksim learn check . --stage 3
  locksim learn check pause.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("%s: name one folder that learn new has written, such as %s ., or the file of a scenario", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.stage, "stage", len(exercises.Stages()), "check only up to this stage")
	flags.StringVar(&f.replay, "replay", "", "run one `world` again, by the name that a check has printed, and show what happens")
	flags.BoolVar(&f.messages, "messages", false, "with --replay, show every message")
	return cmd
}

func (f *learnCheckFlags) run(cmd *cobra.Command, arg string) error {
	f.width = cmp.Or(chooseWidth(cmd.OutOrStdout()), usualWidth)
	if last := len(exercises.Stages()); f.stage < 1 || f.stage > last {
		return fmt.Errorf("%s: --stage is %d; give a stage from 1 to %d", cmd.CommandPath(), f.stage, last)
	}
	if f.messages && f.replay == "" {
		return fmt.Errorf("%s: --messages needs --replay", cmd.CommandPath())
	}
	info, err := os.Stat(arg)
	if err != nil {
		return fmt.Errorf("%s: %s: %w; name the folder that learn new has written, or a scenario in it", cmd.CommandPath(), arg, systemError(err))
	}
	if !info.IsDir() && !strings.HasSuffix(arg, ".yaml") && !strings.HasSuffix(arg, ".yml") {
		return fmt.Errorf("%s: %s is no scenario; to check the lock, name its folder: %s %s", cmd.CommandPath(), arg, cmd.CommandPath(), story.ShellWord(filepath.Dir(arg)))
	}
	if !info.IsDir() {
		return f.checkScenario(cmd, arg)
	}
	if f.replay != "" && !exercises.IsWorld(f.replay) {
		return fmt.Errorf("%s: --replay: there is no world %q; copy the name from what the check has printed, such as in-turn/7", cmd.CommandPath(), f.replay)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	for _, s := range hangups {
		if !signal.Ignored(s) { // nohup ignores it
			signals = append(signals, s)
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), signals...)
	defer stop()
	trial, err := exercises.OpenTrial(ctx, arg)
	if err != nil {
		return learnCheckError(cmd, badInput, err)
	}
	defer trial.Close()
	if err := build(ctx, cmd.ErrOrStderr(), trial); err != nil {
		return learnCheckError(cmd, unexpected, err)
	}
	if f.replay != "" {
		return f.replayWorld(ctx, cmd, trial)
	}
	return f.checkStages(ctx, cmd, trial, arg)
}

// build compiles the lock. If that takes long, because the go command has not compiled locksim
// yet, it says so.
func build(ctx context.Context, stderr io.Writer, trial *exercises.Trial) error {
	printLine(stderr, "compiling the lock")
	done := make(chan error, 1)
	go func() { done <- trial.Build(ctx) }()
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		printLine(stderr, "the first time, this takes a few minutes, because Go compiles locksim too")
		return <-done
	}
}

// learnCheckError says which command has failed. An interrupt is no bad input.
func learnCheckError(cmd *cobra.Command, status int, err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return failure{status, fmt.Errorf("%s: %w", cmd.CommandPath(), err)}
}

// checkStages checks the stages in order, until the lock does not reach one. A stage is a property
// that the reader's lock must have.
func (f *learnCheckFlags) checkStages(ctx context.Context, cmd *cobra.Command, trial *exercises.Trial, dir string) error {
	out, stages := cmd.OutOrStdout(), exercises.Stages()[:f.stage]
	progress := newProgress(cmd.ErrOrStderr(), len(stages))
	defer progress.clear()
	for _, s := range stages {
		progress.next("running the worlds of the stage " + s.Name)
		failed, err := trial.Check(ctx, s)
		progress.clear()
		if err != nil {
			return learnCheckError(cmd, unexpected, err)
		}
		mark := "✓"
		if failed != nil {
			mark = "✗"
		}
		if err := printLine(out, "%s stage %d  %s", mark, s.Number, s.Name); err != nil {
			return outputError(err)
		}
		if failed != nil {
			if err := f.printFailure(out, s, failed, dir); err != nil {
				return outputError(err)
			}
			return failure{status: unexpected}
		}
	}
	_, err := fmt.Fprintf(out, "\n%s\n", describeReached(f.stage, f.width))
	return outputError(err)
}

// describeReached says that a stage is reached, and what to do next, in lines of a width.
func describeReached(stage, width int) string {
	all := exercises.Stages()
	if stage == len(all) {
		return textwrap.Wrap("The lock has reached the last stage. While any three of the five nodes work, one client at a time holds it. It renews its leases, releases only its own keys, and gives each lease a token, so a storage can refuse a late write. The check has found no mistake in its worlds. It cannot see every mistake: "+repository.Document("exercises.md")+" says which.", width, 0) +
			"\n\nnext     run the suite on it, which has many more scenarios:\n" +
			"         " + repository.Document("testing-your-lock.md") + "\n" +
			"         solve the exercises in YAML: locksim learn check policy.yaml\n" +
			"         read where a token does not help: locksim learn 6"
	}
	next := all[stage]
	return fmt.Sprintf("The lock has reached stage %d of %d. Stage %d is %s.", stage, len(all), next.Number, next.Name)
}

// printFailure says why a lock has not reached a stage.
func (f *learnCheckFlags) printFailure(out io.Writer, s exercises.Stage, failed *exercises.Failure, dir string) error {
	var b strings.Builder
	paragraph := func(text string) { fmt.Fprintf(&b, "%s\n", textwrap.Wrap(story.Visible(text), f.width, 0)) }
	fmt.Fprintln(&b)
	if s.Number == 1 {
		paragraph("The lock has not reached stage 1 yet, which is:")
	} else {
		paragraph(fmt.Sprintf("The lock has reached stage %d of %d. Stage %d is:", s.Number-1, len(exercises.Stages()), s.Number))
	}
	paragraph(s.Property)
	f.writeFailure(&b, failed)
	if failed.Address != "" {
		fmt.Fprintf(&b, "replay   locksim learn check %s --replay %s\n         (--messages adds every message)\n", story.ShellWord(dir), failed.Address)
	}
	_, err := io.WriteString(out, reports.DefuseCommands(b.String()))
	return err
}

// writeFailure writes why an exercise is not solved, an example, and a hint.
func (f *learnCheckFlags) writeFailure(b *strings.Builder, failed *exercises.Failure) {
	labelled := func(label, text string) {
		const margin = 9
		wrapped := textwrap.Wrap(story.Visible(text), f.width-margin, 0)
		fmt.Fprintf(b, "%-*s%s\n", margin, label, strings.ReplaceAll(wrapped, "\n", "\n"+strings.Repeat(" ", margin)))
	}
	fmt.Fprintln(b)
	labelled("why not", failed.Why)
	if failed.World != "" {
		seen := ""
		if failed.Of > 1 {
			seen = fmt.Sprintf(" (%d of %d worlds show something wrong)", failed.Failed, failed.Of)
		}
		labelled("example", failed.World+seen)
	}
	if failed.Example != "" {
		labelled("", failed.Example)
	}
	if failed.Lines != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimRight(failed.Lines, "\n"))
	}
	fmt.Fprintln(b)
	if failed.Hint != "" {
		labelled("hint", failed.Hint)
	}
}

// replayWorld runs one world again, and shows its timeline.
func (f *learnCheckFlags) replayWorld(ctx context.Context, cmd *cobra.Command, trial *exercises.Trial) error {
	replay, err := trial.Replay(ctx, f.replay, f.messages)
	if err != nil {
		return learnCheckError(cmd, unexpected, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", textwrap.Wrap(story.Visible(replay.Title), f.width, 0), replay.Timeline)
	if len(replay.Printed) > 0 {
		fmt.Fprintf(&b, "The lock printed:\n\n  | %s\n\n", strings.Join(replay.Printed, "\n  | "))
	}
	if replay.Failure == nil {
		fmt.Fprintln(&b, "The lock passes in this world.")
	} else {
		fmt.Fprintf(&b, "%s\n", textwrap.Wrap(story.Visible("The lock fails in this world: "+replay.Failure.Why), f.width, 0))
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), reports.DefuseCommands(b.String())); err != nil {
		return outputError(err)
	}
	if replay.Failure != nil {
		return failure{status: unexpected}
	}
	return nil
}

// checkScenario says whether a scenario solves its exercise.
func (f *learnCheckFlags) checkScenario(cmd *cobra.Command, file string) error {
	for _, flag := range []string{"stage", "replay"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("%s: --%s is for the folder of the lock, and %s is a file", cmd.CommandPath(), flag, file)
		}
	}
	in, err := loadSingle("learn check", file)
	if err != nil {
		return err
	}
	exercise, err := exercises.FindScenario(filepath.Base(file))
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	failed, err := exercise.Check(in.Scenario)
	if err != nil {
		return failure{unexpected, fmt.Errorf("%s: %s: %w", cmd.CommandPath(), file, err)}
	}
	var b strings.Builder
	if failed == nil {
		fmt.Fprintf(&b, "✓ %s\n\n%s\n", exercise.Title, textwrap.Wrap(exercise.Lesson, f.width, 0))
	} else {
		fmt.Fprintf(&b, "✗ %s\n", exercise.Title)
		f.writeFailure(&b, failed)
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), reports.DefuseCommands(b.String())); err != nil {
		return outputError(err)
	}
	if failed != nil {
		return failure{status: unexpected}
	}
	return nil
}
