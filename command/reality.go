package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// realityFlags are the flags of the reality command.
type realityFlags struct {
	reportFlags
	sets  overrideFlags
	locks []string
	ttl   time.Duration
}

func realityCommand() *cobra.Command {
	f := &realityFlags{}
	cmd := &cobra.Command{
		Use:   "reality FILE|DIR|NAME...",
		Short: "Play scenarios on real servers, in real time",
		Long: `Play scenarios, unchanged, on real servers in real time, without fencing tokens and
with them, and report what happened.

locksim starts the servers in a folder of their own, and each client as a process.
All of them are ended with locksim, in whatever way it ends. Clients reach the
servers only through locksim, which delays, holds and cuts what they say, stops and
kills processes, and watches the servers' keys. Only the loopback interface is used.

A scenario that needs what a real server cannot do, such as a clock that jumps, is
refused before anything starts. A real run is not deterministic: a replay lets the
same faults strike at the same points, but not in the same nanoseconds.

` + statusesHelp,
		Example:           `  locksim reality gc-pause --lock redlock --ttl 2s`,
		Args:              requireScenarios,
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.reportFlags.define(cmd, completeVariants)
	defineLocks(cmd, &f.locks)
	flags := cmd.Flags()
	flags.DurationVar(&f.ttl, "ttl", 0, "shorten all times of the scenario in proportion, so that the lock's TTL is this long")
	flags.StringArrayVar(&f.sets.sets, "set", nil, "replace one value of the scenario, `path=value`, such as lock.nodes=3; null removes the value (can be repeated)")
	completeWith(cmd, "set", completeOverrides)
	return cmd
}

func (f *realityFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.reportFlags.check()
	if err == nil {
		err = checkLocks(f.locks)
	}
	if err != nil {
		return err
	}
	found, err := load(args)
	if err != nil {
		return err
	}
	for i, in := range found {
		if found[i], err = f.selectVariant(in); err != nil {
			return err
		}
	}
	if found, err = f.sets.applyAll(cmd.ErrOrStderr(), found); err != nil {
		return err
	}
	if err := checkLinked(found, f.locks...); err != nil {
		return err
	}
	jobs := jobsOf(found, f.locks)
	plays, err := f.plan(jobs)
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
	planned, err := f.runChoice.selectRuns(plannedResults(jobs, 0), &report)
	if err != nil {
		return err
	}
	if err := f.prepare(cmd, format, planned, report, sourcesOf(found)); err != nil {
		return err
	}
	results, err := f.playAll(cmd, jobs, plays)
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim: %w", err)}
	}
	selected, err := f.runChoice.selectRuns(results, &report)
	if err != nil {
		return err
	}
	if err := f.write(cmd, format, selected, report); err != nil {
		return err
	}
	return checkResults(selected)
}

// A play is one run of a scenario on real servers.
type play struct {
	variant       *scenarios.Variant
	lock, fencing string
	config        sim.Config
	replay        string
}

// plan returns the runs of each job. It fails if one of them cannot be played, before
// anything is started.
func (f *realityFlags) plan(jobs []job) ([][]play, error) {
	var all [][]play
	for _, j := range jobs {
		var plays []play
		for _, v := range j.Variants {
			for _, fencing := range fencings {
				if f.runChoice.fencing != "" && f.runChoice.fencing != fencing {
					continue
				}
				config, err := v.Config(scenarios.Options{Lock: j.lock, Fencing: fencing})
				if err == nil {
					config = reality.Scale(config, f.ttl)
					err = cmp.Or(config.CheckTTL(), reality.Check(config))
				}
				if err != nil {
					return nil, fmt.Errorf("locksim: %s: %w", titleOf(v), err)
				}
				plays = append(plays, play{v, cmp.Or(j.lock, v.Lock), fencing, config, f.replayOf(j)})
			}
		}
		all = append(all, plays)
	}
	return all, nil
}

// titleOf names a variant in an error.
func titleOf(v *scenarios.Variant) string {
	if v.Name == "" {
		return v.Scenario
	}
	return v.Scenario + ", variant " + v.Name
}

// replayOf returns the command that plays a job again.
func (f *realityFlags) replayOf(j job) string {
	words := []string{"locksim", "reality", reports.Operand(j.argument)}
	if j.lock != "" {
		words = append(words, "--lock", j.lock)
	}
	if f.ttl > 0 {
		words = append(words, "--ttl", f.ttl.String())
	}
	for _, s := range f.sets.sets {
		words = append(words, "--set", story.ShellWord(s))
	}
	return strings.Join(words, " ")
}

// playAll plays all runs, one after the other.
func (f *realityFlags) playAll(cmd *cobra.Command, jobs []job, plays [][]play) ([]*scenarios.Result, error) {
	ctx, _, stop := notifyInterrupts(func() {})
	defer stop()
	progress := newProgress(cmd.ErrOrStderr(), len(jobs))
	defer progress.clear()
	var results []*scenarios.Result
	for i, j := range jobs {
		progress.next(j.Name)
		var runs []scenarios.RunResult
		for _, p := range plays[i] {
			t, err := reality.Run(ctx, p.config, reality.Options{
				Program: func(string) *exec.Cmd { return realityProgram(p.config.Lock) },
				Guard:   func() *exec.Cmd { return ownCommand(realityGuard) },
				Real:    p.replay,
				Notes:   f.notes(),
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", titleOf(p.variant), err)
			}
			runs = append(runs, p.variant.Judge(t, p.lock, p.fencing))
		}
		results = append(results, scenarios.NewResult(j.Scenario, cmp.Or(j.lock, j.Variants[0].Lock), 0, runs))
	}
	return results, nil
}

// notes says in the report how the runs were made.
func (f *realityFlags) notes() []string {
	notes := []string{"this run was real: real servers and processes, in real time, so another run takes other times"}
	if f.ttl > 0 {
		notes = append(notes, fmt.Sprintf("all times of the scenario were shortened in proportion, to a TTL of %v", f.ttl))
	}
	return notes
}

// ownCommand returns a command that starts this program with some arguments.
func ownCommand(args ...string) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return exec.Command(program, args...)
}

// realityProgram returns the command of a client's program with one of this program's locks.
func realityProgram(lock sim.Lock) *exec.Cmd {
	options, err := json.Marshal(lock.Options)
	if err != nil {
		panic(err) // options hold only values that JSON can express
	}
	return ownCommand(realityClient, lock.Kind.Name, string(options))
}

// realityClient and realityGuard are the names of the hidden commands that the processes of
// a real run use.
const (
	realityClient = "reality-client"
	realityGuard  = "reality-guard"
)

// realityClientCommand makes this process the program of one client.
func realityClientCommand() *cobra.Command {
	return &cobra.Command{
		Use: realityClient + " LOCK OPTIONS", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, ok := locks.Lookup(args[0])
			if !ok {
				return checkLock(args[0])
			}
			if err := kind.CheckProvided(); err != nil {
				return err
			}
			var options locks.Options
			if err := json.Unmarshal([]byte(args[1]), &options); err != nil {
				return err
			}
			return reality.Serve(cmd.InOrStdin(), cmd.OutOrStdout(), kind, options)
		},
	}
}

// realityGuardCommand makes this process the one that cleans up after a real run.
func realityGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: realityGuard, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var in io.Reader = cmd.InOrStdin()
			reality.Guard(in)
			return nil
		},
	}
}
