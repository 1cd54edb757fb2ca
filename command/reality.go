package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// realityFlags are the flags of the reality command.
type realityFlags struct {
	reportFlags
	sets  overrideFlags
	locks []string
	ttl   time.Duration
	// client is the command of a program that has a lock of its own; "" if there is none.
	client           string
	compares, sweeps bool
	// A play is one run of a scenario on real servers; it is conclusive if its verdicts are
	// known. times is how many conclusive plays a scenario needs, and within is how long the
	// scenario may be repeated to get them. If within is 0, there are at most 3*times plays, and
	// only one if times is 1.
	times  int
	within time.Duration
}

func realityCommand() *cobra.Command {
	f := &realityFlags{}
	cmd := &cobra.Command{
		Use:   "reality FILE|DIR|NAME...",
		Short: "Play scenarios on real servers, in real time",
		Long: `Play scenarios, unchanged, on real servers in real time, without fencing tokens and
with them, and report what happened.

locksim starts the servers in a folder of their own, and the storage and each client
as processes. When locksim ends, in whatever way, all of these are ended too, and the
folder is removed. Clients reach the servers only through locksim, which delays, holds
and cuts what they say, stops and kills processes, and watches the servers' keys. Only
the loopback interface is used.

Locks on Redis, PostgreSQL, etcd and ZooKeeper can be played, if these servers are
installed. etcd counts the TTL in whole seconds, and gives no lease less than two.

A scenario that needs what a real server cannot do, such as a clock that drifts, is
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
	flags.StringVar(&f.client, "client", "", "the `command` of a program in any language that speaks the line protocol; its lock is used instead of the scenario's")
	flags.BoolVar(&f.sweeps, "sweep", false, "play each scenario with one fault at a time, at each message between the first client and the servers, instead of its own faults")
	flags.BoolVar(&f.compares, "compare", false, "simulate the same scenario too, and say where the two differ")
	flags.IntVar(&f.times, "times", 1, "repeat each scenario until its runs have been conclusive this `many` times; without --within, at most three times as many plays are made")
	flags.DurationVar(&f.within, "within", 0, "stop repeating a scenario after this time")
	flags.StringArrayVar(&f.sets.sets, "set", nil, "replace one value of the scenario, `path=value`, such as lock.nodes=3; null removes the value (can be repeated)")
	completeWith(cmd, "set", completeOverrides)
	return cmd
}

func (f *realityFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.reportFlags.check()
	if err == nil {
		err = cmp.Or(checkLocks(f.locks), f.checkValues())
	}
	if err != nil {
		return err
	}
	found, err := f.load(args)
	if err != nil {
		return err
	}
	if found, err = f.sets.applyAll(cmd.ErrOrStderr(), found); err != nil {
		return err
	}
	if f.client == "" {
		if err := checkLinked(found, f.locks...); err != nil {
			return err
		}
	}
	jobs := jobsOf(found, f.locks)
	plays, err := f.plan(cmd.ErrOrStderr(), jobs)
	if err != nil {
		return err
	}
	if err := f.checkRoom(format, len(jobs)); err != nil {
		return err
	}
	if f.sweeps {
		return f.sweep(cmd, jobs)
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
	results, tallies, err := f.playAll(cmd, jobs, plays)
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
	out := cmd.ErrOrStderr()
	if format.Name == "text" && f.output == "" {
		out = cmd.OutOrStdout()
		printLine(out, "")
	}
	isUnequal := false
	for _, t := range tallies {
		if f.times > 1 {
			printLine(out, "%s", t)
		}
		isUnequal = isUnequal || t.isMixed()
	}
	if f.compares {
		differs, err := f.compare(out, selected)
		if err != nil {
			return failure{unexpected, fmt.Errorf("locksim: %w", err)}
		}
		isUnequal = isUnequal || differs
	}
	if isUnequal {
		return failure{status: unexpected}
	}
	return checkResults(selected)
}

// checkValues checks the values of the flags, before any file is read.
func (f *realityFlags) checkValues() error {
	switch {
	case f.client != "" && strings.TrimSpace(f.client) == "":
		return errors.New("locksim: --client is blank; give the command of a program")
	case f.client != "" && len(f.locks) > 0:
		return errors.New("locksim: --client brings its own lock, and --lock names another; leave one out")
	case f.client != "" && f.compares:
		return errors.New("locksim: --compare simulates the lock, and the lock of --client can only be played; leave one out")
	case f.sweeps && (f.compares || f.times > 1 || f.output != "" || f.format != "text"):
		return errors.New("locksim: --sweep prints a line for each fault; leave --compare, --times, --format and -o out")
	case f.ttl < 0 || f.within < 0:
		return errors.New("locksim: --ttl and --within must be longer than zero")
	case f.times < 1:
		return fmt.Errorf("locksim: --times is %d; it must be 1 or more", f.times)
	}
	return nil
}

// A play is one run of a scenario on real servers.
type play struct {
	variant       *scenarios.Variant
	lock, fencing string
	config        sim.Config
	// pace is the factor by which the times of the scenario were shortened.
	pace   float64
	replay string
}

// plan returns the runs of each job, which is a scenario with one lock. It leaves out variants that
// cannot be played, also in the scenarios of the jobs, and prints a note for each. It fails before
// anything is started if no variant of a scenario is left.
func (f *realityFlags) plan(stderr io.Writer, jobs []job) ([][]play, error) {
	var all [][]play
	for i, j := range jobs {
		kept := *j.Scenario
		kept.Variants = nil
		var plays []play
		var errs []error
		for _, v := range j.Variants {
			played, err := v, error(nil)
			if f.sweeps {
				played, err = removeFaults(j, v)
			}
			var planned []play
			if err == nil {
				planned, err = f.planVariant(j, played)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", titleOf(v), err))
				continue
			}
			kept.Variants, plays = append(kept.Variants, v), append(plays, planned...)
		}
		if len(plays) == 0 {
			return nil, fmt.Errorf("locksim: %w", errors.Join(errs...))
		}
		for _, err := range errs {
			printLine(stderr, "left out: %s", err)
		}
		jobs[i].Scenario = &kept
		all = append(all, plays)
	}
	return all, nil
}

// planVariant returns the runs of one variant. It fails if they cannot be played.
func (f *realityFlags) planVariant(j job, v *scenarios.Variant) (plays []play, err error) {
	for _, fencing := range fencings {
		if f.runChoice.fencing != "" && f.runChoice.fencing != fencing {
			continue
		}
		config, err := v.Config(scenarios.Options{Lock: j.lock, Kind: f.foreignKind(v), Fencing: fencing})
		pace := 1.0
		if err == nil {
			if f.ttl > 0 && config.Lock.TTL > 0 {
				pace = float64(f.ttl) / float64(config.Lock.TTL)
			}
			config = reality.Scale(config, f.ttl)
			err = cmp.Or(config.CheckTTL(), reality.Check(config, f.client != ""))
		}
		if err != nil {
			return nil, err
		}
		plays = append(plays, play{v, cmp.Or(f.foreignKind(v).Name, j.lock, v.Lock), fencing, config, pace, f.replayOf(j, v, fencing)})
	}
	return plays, nil
}

// titleOf names a variant in an error.
func titleOf(v *scenarios.Variant) string {
	if v.Name == "" {
		return v.Scenario
	}
	return v.Scenario + ", variant " + v.Name
}

// replayOf returns the command that plays one run of a job again.
func (f *realityFlags) replayOf(j job, v *scenarios.Variant, fencing string) string {
	words := []string{"locksim", "reality", reports.Operand(j.argument)}
	if v.Name != "" {
		words = append(words, "--variant", story.ShellWord(v.Name))
	}
	words = append(words, "--fencing", fencing)
	if j.lock != "" {
		words = append(words, "--lock", j.lock)
	}
	if f.client != "" {
		words = append(words, "--client", story.ShellWord(f.client))
	}
	if f.ttl > 0 {
		words = append(words, "--ttl", f.ttl.String())
	}
	for _, s := range f.sets.sets {
		words = append(words, "--set", story.ShellWord(s))
	}
	return strings.Join(words, " ")
}

// playAll plays all jobs, one after the other, each as often as the flags say. The result of
// a job is its first conclusive play, or else its first one.
func (f *realityFlags) playAll(cmd *cobra.Command, jobs []job, plays [][]play) (results []*scenarios.Result, tallies []*playTally, err error) {
	ctx, _, stop := notifyInterrupts(func() {})
	defer stop()
	progress := newProgress(cmd.ErrOrStderr(), len(jobs))
	defer progress.clear()
	for i, j := range jobs {
		progress.next(j.Name)
		tally := &playTally{name: j.Name, verdicts: map[string]map[string]int{}}
		began := time.Now()
		var chosen *scenarios.Result
		for tally.conclusive < f.times {
			result, err := f.playJob(ctx, j, plays[i])
			if err != nil {
				return nil, nil, err
			}
			if isConclusive := tally.add(result); chosen == nil || isConclusive && tally.conclusive == 1 {
				chosen = result
			}
			if f.isEnough(tally.plays, time.Since(began)) {
				break
			}
		}
		results, tallies = append(results, chosen), append(tallies, tally)
	}
	return results, tallies, nil
}

// isEnough reports whether to stop repeating a scenario although it has fewer than f.times
// conclusive plays. plays is how often it was played, and since is how long that took.
func (f *realityFlags) isEnough(plays int, since time.Duration) bool {
	switch {
	case f.within > 0:
		return since > f.within
	case f.times == 1:
		return true
	}
	return plays >= 3*f.times
}

// playJob plays all runs of a job once.
func (f *realityFlags) playJob(ctx context.Context, j job, plays []play) (*scenarios.Result, error) {
	var runs []scenarios.RunResult
	for _, p := range plays {
		t, err := reality.Run(ctx, p.config, reality.Options{
			Program: func(string) *exec.Cmd { return f.program(p.config.Lock) },
			Guard:   func() *exec.Cmd { return ownCommand(realityGuard) },
			Storage: func(folder string, policy storage.Policy) *exec.Cmd {
				return ownCommand(realityStorage, folder, string(policy))
			},
			Foreign: f.client != "",
			Pace:    p.pace,
			Real:    p.replay,
			Notes:   f.notes(),
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", titleOf(p.variant), err)
		}
		run := p.variant.Judge(t, p.lock, p.fencing)
		if f.client != "" { // no scenario expects anything of a lock that it does not know
			run.Expected, run.Differences = nil, nil
		}
		runs = append(runs, run)
	}
	return scenarios.NewResult(j.Scenario, plays[0].lock, 0, runs), nil
}

// program returns the command of a client's program.
func (f *realityFlags) program(lock sim.Lock) *exec.Cmd {
	if f.client != "" {
		return exec.Command("sh", "-c", f.client)
	}
	return realityProgram(lock)
}

// foreignKind returns the kind of the lock that --client runs in a variant of a scenario; the
// zero kind without --client. Usually this lock is on Redis and has its key on all servers; its
// program may report another key and fewer servers. If the scenario's own lock is on etcd or
// ZooKeeper, the lock of --client is on the same system.
func (f *realityFlags) foreignKind(v *scenarios.Variant) locks.Kind {
	if f.client == "" {
		return locks.Kind{}
	}
	words := strings.Fields(f.client)
	name := filepath.Base(words[len(words)-1])
	for _, w := range words {
		if strings.Contains(filepath.Base(w), ".") {
			name = filepath.Base(w)
			break
		}
	}
	kind := locks.Kind{
		Name: name, Title: "the lock of " + f.client, System: locks.Redis,
		Slots: func(key string, nodes int) (slots []locks.Slot, quorum int) {
			for i := range nodes {
				slots = append(slots, locks.Slot{Node: i, Key: key})
			}
			return slots, nodes/2 + 1
		},
		New: func(*locks.Env) (locks.Lock, error) {
			return nil, errors.New("the lock of --client cannot be simulated")
		},
	}
	if own, ok := locks.Lookup(v.Lock); ok && (own.System == locks.Etcd || own.System == locks.ZooKeeper) {
		kind.System, kind.Slots, kind.Renews = own.System, own.Slots, own.Renews
	}
	return kind
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

// These are the names of the hidden commands that the processes of a real run use.
const (
	realityClient  = "reality-client"
	realityStorage = "reality-storage"
	realityGuard   = "reality-guard"
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

// realityStorageCommand makes this process the storage of a real run.
func realityStorageCommand() *cobra.Command {
	return &cobra.Command{
		Use: realityStorage + " FOLDER POLICY", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return reality.ServeStorage(cmd.OutOrStdout(), args[0], storage.Policy(args[1]))
		},
	}
}

// realityGuardCommand makes this process the one that cleans up after a real run.
func realityGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: realityGuard, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			reality.Guard(cmd.InOrStdin())
			return nil
		},
	}
}
