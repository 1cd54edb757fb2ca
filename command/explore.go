package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
)

// searchFlags are the flags of the commands that report the results of a search.
type searchFlags struct {
	commonFlags[*explore.Result]
	jobs   int
	ways   string
	expect string
}

// maxJobs limits --jobs, because each job is a process.
const maxJobs = 1024

// define adds the flags to a command.
func (f *searchFlags) define(cmd *cobra.Command) {
	f.commonFlags.define(cmd, "report", reports.Searches)
	flags := cmd.Flags()
	flags.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "run this `many` worlds at the same time, each in its own process")
	flags.StringVar(&f.ways, "ways", "", "write each way as a scenario file into this `directory`, for locksim run")
	flags.StringVar(&f.expect, "expect", "", "fail only if a way is not in this `file`, the JSON report of an earlier search")
}

// check checks the values of the flags, before any file is read.
func (f *searchFlags) check() (reports.Format[*explore.Result], error) {
	format, err := f.chosenFormat()
	switch {
	case err != nil:
		return format, err
	case f.jobs < 1 || f.jobs > maxJobs:
		return format, fmt.Errorf("locksim: --jobs is %d; give the number of worlds to run at the same time, from 1 to %d", f.jobs, maxJobs)
	}
	return format, f.commonFlags.check(format)
}

// prepare checks, before anything is run, that no output of the command replaces an input
// or another output.
func (f *searchFlags) prepare(cmd *cobra.Command, format reports.Format[*explore.Result], sources []source) error {
	sources = append(sources, fileSources("the report of an earlier search", f.expect)...)
	if f.ways != "" {
		for _, written := range append(fileSources("the report", f.output), sources...) {
			if written.name != "" && blocksDirectory(written.name, f.ways) {
				return fmt.Errorf("locksim: --ways %s is %s, or inside of it; name another directory", f.ways, written.describe(f.ways))
			}
		}
	}
	return f.writeFlags.prepare(cmd, format, nil, reports.Options{}, sources)
}

// exploreFlags are the flags of the explore command.
type exploreFlags struct {
	searchFlags
	lock                   string
	nodes                  int
	ttl                    time.Duration
	variant                string
	faults, worlds         int
	quick                  bool
	timeLimit              time.Duration
	shard                  string // the part of the search to do, such as 3/16
	ledger, resume         string
	onlyKinds, exceptKinds []string
}

// defaultWorlds is how many worlds with several faults a search tries by default;
// quickWorlds is the default with --quick.
const (
	defaultWorlds = 20_000
	quickWorlds   = 300
)

func exploreCommand() *cobra.Command {
	f := &exploreFlags{}
	cmd := &cobra.Command{
		Use:   "explore [FILE|NAME]",
		Short: "Find the faults that break a lock, shrink them, and measure how large they must be",
		Long: `Find the faults that break a lock, shrink them, and measure how large they must be.

The search begins with a lock and a workload without faults. It lists every point at
which a fault can strike, and tries every single fault at each point. Then it tries
sets of several faults, first the sets that may show something new. It groups the
cases that break the lock by their cause, makes each case as small as possible, and
measures it. With --ways it writes a scenario file for each way, which locksim run can
run.

With --quick it tries only the faults that break locks most often, which takes
seconds. A quick search may miss ways to break the lock.

locksim generates the workload for the lock, or takes the workload of a scenario and
leaves its faults out.

Exit status:
  0  nothing unexpected broke the lock
  1  something unexpected did: a way to break it that is the lock's own fault, or,
     with --expect, a way that is not in that file; or a world could not be run, or
     the search was interrupted
  2  bad usage; nothing was run`,
		Example: `  locksim explore --lock redlock --ways ways/
  locksim explore --lock redlock --quick
  locksim explore --lock redsync --max-faults 3 --for 10m
  locksim explore scenarios/fencing-gap.yaml --max-faults 1
  locksim explore --lock redlock --format json -o known.json
  locksim explore --lock redlock --expect known.json
  locksim explore --lock redlock --shard 3/16 --ledger part-3.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("locksim explore: name one scenario, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.define(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "", "explore this `kind` of lock")
	flags.IntVar(&f.nodes, "nodes", 0, "give the lock this `many` nodes instead of its default")
	flags.DurationVar(&f.ttl, "ttl", explore.DefaultTTL, "how long a grant lasts")
	flags.StringVar(&f.variant, "variant", "", "explore this `variant` of a scenario that has several")
	flags.IntVar(&f.faults, "max-faults", 2, "try sets of up to this `many` faults")
	flags.StringSliceVar(&f.onlyKinds, "only", nil, "try only these `kinds` of faults, such as pause,crash/power-loss")
	flags.StringSliceVar(&f.exceptKinds, "except", nil, "try none of these `kinds` of faults, such as drift,partition/partition-to")
	flags.IntVar(&f.worlds, "worlds", defaultWorlds, "try this `many` worlds with several faults; 0 with --for: as many as there is time for")
	flags.BoolVar(&f.quick, "quick", false, "a first look that takes seconds: try only the classic causes (a paused client, a late write, and a client cut off from nodes while another node crashes or its clock jumps), in some hundred worlds")
	flags.DurationVar(&f.timeLimit, "for", 0, "try no more sets of several faults after this time")
	flags.StringVar(&f.shard, "shard", "", "do only this `part` of the search, such as 3/16; locksim merge combines the parts")
	flags.StringVar(&f.ledger, "ledger", "", "write the result of every world to this `file`, as JSON Lines")
	flags.StringVar(&f.resume, "resume", "", "continue the search whose ledger is this `file`")
	complete(cmd, "lock", locks.Names())
	complete(cmd, "only", explore.KindNames())
	complete(cmd, "except", explore.KindNames())
	return cmd
}

func (f *exploreFlags) run(cmd *cobra.Command, args []string) error {
	format, err := f.check(cmd, args)
	if err != nil {
		return err
	}
	if f.shard == "" {
		if err := checkWays(f.ways); err != nil {
			return err
		}
	}
	known, err := f.readKnown()
	if err != nil {
		return err
	}
	search, lock, found, err := f.newSearch(cmd.ErrOrStderr(), args)
	if err != nil {
		return err
	}
	if err := checkSameKinds(known, search, f.expect); err != nil {
		return err
	}
	sources := append(sourcesOf(found), fileSources("the ledger", f.ledger, f.resume)...)
	if err := f.prepare(cmd, format, sources); err != nil {
		return err
	}
	if len(args) == 0 {
		if err := f.measureTakeover(cmd.Context(), search); err != nil {
			return err
		}
	}
	closeLedger, err := f.openLedger(cmd.ErrOrStderr(), search, lock)
	if err != nil {
		return err
	}
	defer closeLedger()
	if f.timeLimit > 0 {
		search.Deadline = time.Now().Add(f.timeLimit)
	}
	return f.explore(cmd, search, format, known)
}

// check checks the values of the flags, also in combination, and sets a default.
func (f *exploreFlags) check(cmd *cobra.Command, args []string) (reports.Format[*explore.Result], error) {
	format, err := f.searchFlags.check()
	given := cmd.Flags().Changed
	switch {
	case err != nil:
	case len(args) == 0 && f.lock == "":
		err = errors.New("locksim explore: name a lock, as in --lock redlock, or a scenario that provides the workload; known here: " + strings.Join(locks.Names(), ", "))
	case len(args) > 0 && (given("nodes") || given("ttl")):
		err = errors.New("locksim explore: --nodes and --ttl are for the workload that is made for a lock; a scenario has its own")
	case len(args) == 0 && f.variant != "":
		err = errors.New("locksim explore: --variant is for a scenario, and none is named")
	case given("nodes") && (f.nodes < 1 || f.nodes > 15):
		err = fmt.Errorf("locksim: --nodes is %d; it must be between 1 and 15", f.nodes)
	case f.ttl < 100*time.Millisecond || f.ttl > 24*time.Hour:
		err = fmt.Errorf("locksim: --ttl is %v; it must be between 100ms and 24h", f.ttl)
	case f.faults < 1 || f.faults > explore.FaultLimit:
		err = fmt.Errorf("locksim: --max-faults is %d; it must be between 1 and %d", f.faults, explore.FaultLimit)
	case f.worlds < 0 || f.worlds == 0 && f.timeLimit == 0 && f.faults > 1:
		err = fmt.Errorf("locksim: --worlds is %d; give the number of worlds with several faults to try, or 0 and a time limit with --for", f.worlds)
	case f.timeLimit < 0:
		err = fmt.Errorf("locksim: --for is %v; give a time longer than zero", f.timeLimit)
	case given("only") && len(f.onlyKinds) == 0, given("except") && len(f.exceptKinds) == 0:
		err = errors.New("locksim explore: --only and --except need kinds of faults, such as pause,crash/power-loss, and one of them is empty")
	case f.ledger != "" && f.resume != "":
		err = errors.New("locksim explore: --ledger begins a new ledger and --resume continues one; leave one of them out")
	case f.shard != "" && f.ledger == "" && f.resume == "":
		err = errors.New("locksim explore: a part of a search is useful only for locksim merge; name a file for it with --ledger")
	case f.shard != "" && (given("output") || given("ways") || given("expect") || given("format")):
		err = errors.New("locksim explore: a part of a search has no report; -o, --format, --ways and --expect are for locksim merge")
	case f.shard != "" && f.quick:
		err = errors.New("locksim explore: a quick search is too short to split; leave out --shard or --quick")
	case f.shard != "" && f.timeLimit > 0:
		err = errors.New("locksim explore: how far --for gets depends on the machine, so the parts would not fit together; set the total number of worlds with --worlds")
	case f.lock != "":
		err = cmp.Or(checkLock(f.lock), checkNodes(f.lock, f.nodes))
	}
	switch {
	case err != nil || given("worlds"):
	case f.timeLimit > 0:
		f.worlds = 0
	case f.quick:
		f.worlds = quickWorlds
	}
	return format, err
}

// checkNodes returns an error if the lock does not keep grants on that many nodes.
func checkNodes(kind string, nodes int) error {
	lock, _ := locks.Lookup(kind)
	if lock.Slots == nil {
		return nil
	}
	used := map[int]bool{}
	slots, _ := lock.Slots("lock", nodes)
	for _, slot := range slots {
		if slot.Node == locks.Cluster {
			return nil // every member of a cluster keeps all grants
		}
		used[slot.Node] = true
	}
	if len(used) >= nodes {
		return nil
	}
	return fmt.Errorf("locksim: --nodes is %d, and the lock %s uses only %d; leave --nodes out", nodes, kind, len(used))
}

// newSearch returns the search that the flags describe, and the lock to break. If a
// scenario provides the workload, newSearch returns that too.
func (f *exploreFlags) newSearch(stderr io.Writer, args []string) (*explore.Search, string, []input, error) {
	s := &explore.Search{MaxFaults: f.faults, Worlds: f.worlds, Jobs: f.jobs, Quick: f.quick, Kinds: explore.NewKinds(f.onlyKinds, f.exceptKinds)}
	if err := s.Kinds.Check(); err != nil {
		return nil, "", nil, fmt.Errorf("locksim explore: %w", err)
	}
	if f.faults == 1 {
		s.Worlds = 0
	}
	if f.shard != "" {
		if _, err := fmt.Sscanf(f.shard+" ", "%d/%d ", &s.Shard, &s.Shards); err != nil || s.Shard < 1 || s.Shard > s.Shards {
			return nil, "", nil, fmt.Errorf("locksim: --shard is %q; write the part and the number of parts, as in 1/16 or 16/16", f.shard)
		}
		if s.Shards > explore.Lanes {
			return nil, "", nil, fmt.Errorf("locksim: --shard is %q; a search can be split into at most %d parts", f.shard, explore.Lanes)
		}
	}
	if len(args) == 0 {
		if err := checkLocksLinked(f.lock); err != nil {
			return nil, "", nil, err
		}
		s.Bases = f.lockToExplore(0).Bases(s.Kinds)
		return s, f.lock, nil, nil
	}
	found, err := load(args)
	if err != nil {
		return nil, "", nil, err
	}
	base, lock, err := f.fileBase(stderr, args[0], found)
	s.Bases = []explore.Base{base}
	return s, lock, found, err
}

// lockToExplore returns the lock for which the search generates workloads. takeover is how
// long another client waits for the lock after its holder has crashed; 0 means unknown.
func (f *exploreFlags) lockToExplore(takeover time.Duration) explore.Lock {
	return explore.Lock{Name: f.lock, Nodes: f.nodes, TTL: f.ttl, Takeover: takeover, Extends: true, Seed: f.seed}
}

// measureTakeover measures how long another client waits for the lock after its holder has
// crashed. It then generates the workloads again, because they depend on that time.
func (f *exploreFlags) measureTakeover(ctx context.Context, s *explore.Search) error {
	pool, err := runs.NewRemote(1, f.workerCommand, explore.NewLocal(s.Bases[:1], f.timeout), 3*f.timeout)
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim: %w", err)}
	}
	defer pool.Close()
	takeover, err := explore.Takeover(ctx, pool)
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim: %w", err)}
	}
	s.Bases = f.lockToExplore(takeover).Bases(s.Kinds)
	return nil
}

// fileBase returns the workload of a scenario. arg is the argument of the command line that
// names the scenario.
func (f *exploreFlags) fileBase(stderr io.Writer, arg string, found []input) (base explore.Base, lock string, err error) {
	if len(found) > 1 {
		return base, "", fmt.Errorf("locksim: %s contains %d scenarios; name one", arg, len(found))
	}
	s := found[0].Scenario
	if f.variant != "" {
		if s, err = s.SelectVariant(f.variant); err != nil {
			return base, "", fmt.Errorf("locksim: --variant: %w", err)
		}
	}
	if len(s.Variants) > 1 {
		var all []string
		for _, v := range s.Variants {
			all = append(all, v.Name)
		}
		return base, "", fmt.Errorf("locksim: %s has several variants; choose one with --variant: %s", s.Name, strings.Join(all, ", "))
	}
	v := s.Variants[0]
	if err := checkLocksLinked(cmp.Or(f.lock, v.Lock)); err != nil {
		return base, "", err
	}
	base = explore.FileBase(v, f.seed)
	lock = v.Lock
	if f.lock != "" {
		lock = f.lock
		if base, err = base.WithLock(f.lock); err != nil {
			return base, "", fmt.Errorf("locksim: %s: %w", arg, err)
		}
	}
	base, late, endless, err := base.WithBoundedWaits(f.timeout)
	if err != nil {
		return base, "", fmt.Errorf("locksim: %s: %w", arg, err)
	}
	for _, client := range late {
		printLine(stderr, "%s begins soon after the start here, because in %s it waits for something that only a fault causes", client, s.Name)
	}
	for _, client := range endless {
		printLine(stderr, "%s works for a second here, because in %s it works until something happens that only a fault causes", client, s.Name)
	}
	return base, lock, nil
}

// readKnown reads the report that --expect names, with the known ways to break the lock. It returns
// nil without --expect.
func (f *searchFlags) readKnown() (*explore.Result, error) {
	if f.expect == "" {
		return nil, nil
	}
	return readExplored("--expect", f.expect)
}

// checkSameKinds returns an error if two searches that are to be compared try different
// kinds of faults.
func checkSameKinds(known *explore.Result, search *explore.Search, name string) error {
	if known == nil || known.Kinds.Equal(search.Kinds) {
		return nil
	}
	return fmt.Errorf("locksim: --expect: the search in %s tried these kinds of faults: %s; this search tries %s; compare searches that try the same", name, known.Kinds, search.Kinds)
}

// explore runs a search, or continues it, and reports what it has found.
func (f *searchFlags) explore(cmd *cobra.Command, search *explore.Search, format reports.Format[*explore.Result], known *explore.Result) error {
	stderr := cmd.ErrOrStderr()
	// The last argument is the timeout for a worker's answer. It is longer than the worker
	// needs to give up on a world by itself, even if it runs the world twice.
	pool, err := runs.NewRemote(f.jobs, f.workerCommand, explore.NewLocal(search.Bases, f.timeout), 3*f.timeout)
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim: %w", err)}
	}
	defer pool.Close()
	search.Runner, search.Records = pool, explore.Records{Bases: search.Bases, Backend: pool}
	bar := newBar(stderr, search.Deadline)
	search.Progress, search.OnFirst = bar.show, bar.showFirst
	defer bar.clear()
	searching, reporting, stop := notifyInterrupts(func() {
		if search.Shards == 0 {
			bar.clear()
			printLine(stderr, "interrupted: shrinking what was found; interrupt again to stop immediately")
		}
	})
	defer stop()
	began := time.Now()
	found, err := search.Find(searching)
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim: %w", err)}
	}
	if search.Shards > 0 {
		bar.clear()
		return reportPart(cmd, search, found)
	}
	result, err := found.Result(reporting)
	bar.clear()
	switch {
	case reporting.Err() != nil:
		return failure{unexpected, errors.New("locksim: interrupted twice, so there is no report")}
	case err != nil:
		return failure{unexpected, fmt.Errorf("locksim: %w", err)}
	}
	unwrittenWays := writeWays(stderr, f.ways, result, append(f.sources, fileSources("the report", f.output)...))
	var o reports.Options
	if known != nil {
		o.Since = reports.Compare(result, known, f.expect)
	}
	if f.output == "" { // only then, because a report in a file must be the same in every run
		o.Took = time.Since(began)
	}
	if err := f.write(cmd, format, result, o); err != nil {
		return err
	}
	if unwrittenWays != nil {
		return failure{unexpected, unwrittenWays}
	}
	// An interrupted search may have missed ways, so it is no success.
	interrupted := found.Stopped() != "" && searching.Err() != nil
	if interrupted || hasUnexpectedWays(result, o.Since) {
		return failure{status: unexpected}
	}
	return nil
}

// reportPart reports that a part of a search (see --shard) is complete, or why it is not.
func reportPart(cmd *cobra.Command, s *explore.Search, found *explore.Found) error {
	if why := found.Stopped(); why != "" {
		return failure{unexpected, fmt.Errorf("locksim: part %d of %d is not complete: %s; continue it with --resume instead of --ledger", s.Shard, s.Shards, why)}
	}
	tried, run := found.Worlds()
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "part %d of %d is done: %s; locksim merge combines the parts\n", s.Shard, s.Shards, reports.WorldsTried(tried, run))
	return outputError(err)
}

// hasUnexpectedWays reports whether a search has found a way to break the lock that makes
// the command fail. With --expect that is a way that the earlier search did not find;
// otherwise it is a way that is the lock's own fault.
func hasUnexpectedWays(r *explore.Result, since *reports.Comparison) bool {
	if since != nil {
		return len(since.New) > 0
	}
	for _, w := range r.Ways {
		if w.Blame == checks.BlameLock {
			return true
		}
	}
	return false
}

// workerCommand returns the command that starts this program as a worker of the search.
func (f *searchFlags) workerCommand() *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return exec.Command(program, exploreWorker, f.timeout.String())
}

// exploreWorker is the name of the hidden command that each worker process runs.
const exploreWorker = "explore-worker"

// exploreWorkerCommand returns the hidden command, which runs worlds that it receives on
// standard input.
func exploreWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    exploreWorker,
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			patience, err := time.ParseDuration(args[0])
			if err != nil {
				return fmt.Errorf("locksim %s is an internal command: %w", exploreWorker, err)
			}
			runs.ServeWorlds(os.Stdin, os.Stdout, func(bases []runs.Base) (runs.Backend, error) {
				return runs.NewLocal(bases, patience), nil
			})
			return nil
		},
	}
}
