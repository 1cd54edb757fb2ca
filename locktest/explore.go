package locktest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
)

// An Exploration sets how far [Explore] searches for faults that break a lock. With the
// zero Exploration a search takes seconds for a lock on one Redis node, and some minutes for a
// lock on a cluster or on SQLite, whose worlds are larger.
type Exploration struct {
	// MaxFaults is the largest number of faults in one world, up to [explore.FaultLimit]; 0
	// is 2.
	MaxFaults int
	// Worlds is how many worlds with several faults are tried. 0 is 500. If For is set, 0
	// is as many as there is time for.
	Worlds int
	// For limits the real time of the search; 0 is no limit. New worlds are tried for most of that
	// time. In the rest, the search makes the faults that it has found as small as possible, and
	// measures them. With For, the result depends on the speed of the machine.
	For time.Duration
	// Seed is the number from which the latencies and every random value follow; 0 is 1.
	Seed uint64
}

// defaultWorlds is how many worlds with several faults are tried if the Exploration sets no
// limit.
const defaultWorlds = 500

// Explore searches for faults that break a lock, including faults that nobody has thought
// of. It runs the lock in a workload without any fault, and records every point at which a
// fault can strike. It tries every single fault at each of these points. Then it tries sets
// of several faults, the most promising first. It does what locksim explore does with a
// registered lock.
//
//	func TestMyLockExplored(t *testing.T) {
//		config := locktest.Config{Nodes: 5, Extends: true}
//		locktest.Explore(t, config, newMyLock, locktest.Exploration{MaxFaults: 2, For: time.Minute})
//	}
//
// Explore fails the test if there is a way to break the lock that is the lock's own fault by
// the rules of [Run]. It reports each mistake of the lock once: the smallest faults that show
// it, how long they have to last, and commands that run such worlds again. With -v it also
// logs how far it has come, what was tried, and the ways that are inherent or that follow
// from an assumption which the faults break.
//
// Explore stops after five worlds in which a call of the lock never returns, if nearly all
// worlds hang or each of the five takes much real time. It stops after two worlds that hang in
// real time, if they are a tenth of all worlds. It then reports the hang, and the mistakes that
// it has found before. Run stops in the same way.
//
// Explore fails the test if the configuration or the exploration is invalid.
func Explore(t *testing.T, config Config, build New, o Exploration) {
	t.Helper()
	e := newExplorer(t, config, build, o)
	if serveOrReplay(t, e.call, e) {
		return
	}
	pool := e.startWorkers(t)
	defer pool.Close()
	e.reportProgress(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	watch := &hangWatch{Backend: pool, stop: stop}
	e.search.Runner, e.search.Records = watch, explore.Records{Bases: e.search.Bases, Backend: watch}
	found, err := e.search.Find(ctx)
	if watch.hasStopped() {
		e.reportHang(t, watch, found)
		return
	}
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	result, err := found.Result(t.Context())
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	e.report(t, pool, result)
}

// An explorer is a search for faults that break a lock, for one call of Explore or
// BreaksIn.
type explorer struct {
	*subject
	// call names this call of Explore, for the workers. local runs worlds in this process.
	call   string
	seed   uint64
	search explore.Search
	local  *runs.Local
}

// newExplorer checks a Config and an Exploration, and fails the test if they are invalid.
func newExplorer(t *testing.T, config Config, build New, exploration Exploration) *explorer {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	switch {
	case err != nil:
		t.Fatal(err)
	case exploration.MaxFaults < 0 || exploration.MaxFaults > explore.FaultLimit:
		t.Fatalf("locktest: Exploration.MaxFaults is %d; it must be between 1 and %d", exploration.MaxFaults, explore.FaultLimit)
	case exploration.Worlds < 0 || exploration.For < 0:
		t.Fatalf("locktest: Exploration.Worlds is %d and For is %v; neither may be negative", exploration.Worlds, exploration.For)
	}
	if exploration.Worlds == 0 && exploration.For == 0 {
		exploration.Worlds = defaultWorlds
	}
	e := &explorer{subject: s, call: nextCall(t.Name())}
	e.search = explore.Search{
		MaxFaults: cmp.Or(exploration.MaxFaults, 2), Worlds: exploration.Worlds, Jobs: runtime.GOMAXPROCS(0),
	}
	if exploration.For > 0 {
		now := time.Now()
		e.search.Deadline, e.search.End = now.Add(exploration.For*7/10), now.Add(exploration.For)
	}
	e.seed = cmp.Or(exploration.Seed, 1)
	e.setWorkloads(e.workloads(e.seed, 0, 1))
	return e
}

// setWorkloads sets the workloads in which the lock is explored. e.local, which runs worlds in this
// process, has further workloads after these: one for each latency that measurePace tries.
func (e *explorer) setWorkloads(bases []explore.Base) {
	all := slices.Clone(bases)
	for _, divisor := range latencyDivisors(usualLatency) {
		alone := func(string) (sim.Config, error) {
			return e.soloConfig(newConnectionTrips * usualLatency / divisor), nil
		}
		all = append(all, explore.Base{Base: runs.Base{Name: "alone", Config: alone}})
	}
	e.search.Bases, e.local = bases, explore.NewLocal(all, e.config.Patience)
}

// fitWorkloads fits the workloads to the lock. Like [Run], it chooses latencies with which the
// lock works. It also measures for how long another client waits for a crashed holder.
// startBackend starts the processes that run the worlds of the current workloads.
func (e *explorer) fitWorkloads(t *testing.T, startBackend func() runs.Backend) {
	t.Helper()
	worlds := startBackend()
	divisor, err := e.measurePace(t.Context(), worlds)
	if divisor > 1 {
		t.Log(describePace(divisor))
		e.setWorkloads(e.workloads(e.seed, 0, divisor))
		worlds = startBackend()
	}
	var takeover time.Duration
	if err == nil {
		takeover, err = explore.Takeover(t.Context(), worlds)
	}
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	e.setWorkloads(e.workloads(e.seed, takeover, divisor))
}

// measurePace returns by how much the usual latencies have to be divided to fit the lock's
// own timeouts. It returns 1 if dividing does not help, or if the lock ends its process.
func (e *explorer) measurePace(ctx context.Context, worlds runs.Backend) (time.Duration, error) {
	for i, divisor := range latencyDivisors(usualLatency) {
		a, err := worlds.Report(ctx, runs.WorldSpec{Base: len(e.search.Bases) + i}, runs.FencingOff)
		switch {
		case err != nil:
			return 1, fmt.Errorf("cannot measure which latencies the lock survives: %w", err)
		case a.History == nil:
			return 1, nil
		case a.Ending == nil && endedWell(a.History):
			return divisor, nil
		}
	}
	return 1, nil
}

// serve makes this process a worker: it runs worlds for the process that searches.
func (e *explorer) serve() {
	// The bases, which are the workloads, arrive without programs and kinds of locks, which cannot
	// be sent. This process has made the same bases itself, and takes only their texts from the
	// message.
	runs.ServeWorlds(os.Stdin, os.Stdout, func(sent []runs.Base) (runs.Backend, error) {
		for i := range e.search.Bases {
			e.search.Bases[i].Text = sent[i].Text
		}
		e.setWorkloads(e.search.Bases)
		return e.local, nil
	})
}

// startWorkers fits the workloads to the lock, with one worker for each attempt. Then it
// starts the workers that run the search.
func (e *explorer) startWorkers(t *testing.T) *runs.Remote {
	t.Helper()
	var solo *runs.Remote
	e.fitWorkloads(t, func() runs.Backend {
		if solo != nil {
			solo.Close()
		}
		solo = e.pool(t, 1)
		return solo
	})
	solo.Close()
	pool := e.pool(t, e.search.Jobs)
	e.search.Runner, e.search.Records = pool, explore.Records{Bases: e.search.Bases, Backend: pool}
	return pool
}

// pool starts workers that run the worlds of the current workloads.
func (e *explorer) pool(t *testing.T, jobs int) *runs.Remote {
	t.Helper()
	pool, err := runs.NewRemote(jobs, func() *exec.Cmd { return workerProcess(e.call) }, e.local, e.maxSilence())
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	return pool
}

// progressInterval is the time between two lines in which a search with -v logs its
// progress.
const progressInterval = 10 * time.Second

// reportProgress makes the search log, with -v, the first world that breaks the lock, and
// from time to time how far it has come.
func (e *explorer) reportProgress(t *testing.T) {
	if !testing.Verbose() {
		return
	}
	e.search.OnFirst = func(w runs.WorldSpec, tried int) {
		t.Logf("world %d is the first in which something breaks: %s", tried, cmp.Or(strings.Join(describeFaults(w), " and "), "without any fault"))
	}
	var mu sync.Mutex
	next := time.Now().Add(progressInterval)
	e.search.Progress = func(p explore.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().Before(next) {
			return
		}
		next = time.Now().Add(progressInterval)
		of := ""
		if p.Total > 0 {
			of = fmt.Sprintf(" of %d", p.Total)
		}
		t.Logf("%s: %d%s; %s so far", strings.ReplaceAll(string(p.Phase), "-", " "), p.Done, of, voice.Count(p.Causes, "way"))
	}
}

// report fails the test for each way that is the lock's own fault, and logs the whole
// result.
func (e *explorer) report(t *testing.T, worlds runs.Backend, r *explore.Result) {
	t.Helper()
	if blamed := e.logResult(t, r); len(blamed) > 0 {
		t.Error(e.describeMistakes(e.mistakes(t.Context(), worlds, blamed), len(blamed)))
	}
}

// logResult logs the whole result, and returns the ways that are the lock's own fault.
func (e *explorer) logResult(t *testing.T, r *explore.Result) (blamed []explore.Way) {
	t.Helper()
	for _, list := range [][]explore.Way{r.Ways, r.RanOn} {
		for i := range list {
			list[i].File, list[i].Text = "", nil // the locksim command cannot run a file with this lock
		}
	}
	format, _ := reports.Searches.Lookup("text")
	var text bytes.Buffer
	_ = format.Write(&text, r, reports.Options{}) // writing to a buffer cannot fail
	t.Log("\n" + text.String())
	return slices.DeleteFunc(slices.Clone(r.Ways), func(w explore.Way) bool { return w.Blame != checks.BlameLock })
}

// reportHang fails the test after a search that was stopped because the lock hangs. found is
// what the search had found by then; nil if it had not begun.
func (e *explorer) reportHang(t *testing.T, watch *hangWatch, found *explore.Found) {
	t.Helper()
	all, tried := []foundMistake{e.mistakeOfHang(t.Context(), watch)}, 0
	hangCount := len(all[0].ways)
	wayCount := hangCount
	if found != nil {
		e.search.End = time.Now() // nothing is made smaller or measured any more
		if result, err := found.Result(t.Context()); err == nil {
			blamed := e.logResult(t, result)
			for _, m := range e.mistakes(t.Context(), watch.Backend, blamed) {
				if m.Mistake != all[0].Mistake {
					all = append(all, m)
				}
			}
			wayCount += len(blamed)
			tried = result.Worlds
		}
	}
	t.Errorf("%s\n\nnot run: the rest of the search, because it stopped after %s in which a call of the lock never returns; %s had been tried. Correct this mistake, and run the test again.",
		e.describeMistakes(all, wayCount), voice.Count(hangCount, "world"), voice.Count(tried, "world"))
}

// A Broken is a world that shows a mistake of the lock: something broke, and the lock is to
// blame.
type Broken struct {
	// Faults are the world's faults, each in one line in the form of a scenario.
	Faults []string `json:"faults"`
	// Rules are what the lock is to blame for: properties that are violated, claims that
	// are not kept, or what a lock must not do.
	Rules []string `json:"rules"`
	// Worlds is how many worlds had been tried by then, including this one.
	Worlds int `json:"worlds"`
	// Seed is the seed of the workload, and Replay the world as a value of the environment
	// variable LOCKSIM_REPLAY.
	Seed   uint64 `json:"seed"`
	Replay string `json:"replay"`
	// Command runs this world again. It is run in the folder of the test's package, unless
	// [Config.Command] is set.
	Command string `json:"command"`
}

// Attr makes b an attribute of a test; see [AttrFinding].
func (b Broken) Attr(t testing.TB) {
	t.Helper()
	attr(t, b)
}

// BreaksIn searches as [Explore] does. Instead of failing the test, it yields every world
// in which the lock is to blame for something, as soon as the world is found. Breaking out
// of the loop ends the search. With LOCKSIM_REPLAY it runs that world as Explore does, and
// yields nothing.
func BreaksIn(t *testing.T, config Config, build New, o Exploration) iter.Seq[Broken] {
	t.Helper()
	e := newExplorer(t, config, build, o)
	if serveOrReplay(t, e.call, e) {
		return func(func(Broken) bool) {}
	}
	return func(yield func(Broken) bool) {
		pool := e.startWorkers(t)
		defer pool.Close()
		ctx, stop := context.WithCancel(t.Context())
		found, worlds := make(chan Broken), 0
		e.search.Watch = func(w runs.WorldSpec, outcome runs.WorldResult) {
			worlds++
			if rules := brokenRules(outcome); len(rules) > 0 {
				select {
				case found <- e.newBroken(w, rules, worlds):
				case <-ctx.Done():
				}
			}
		}
		var err error
		go func() {
			defer close(found)
			_, err = e.search.Find(ctx)
		}()
		defer stop()
		for b := range found {
			if !yield(b) {
				stop()
				for range found { // wait until the search has ended
				}
				return
			}
		}
		if err != nil {
			t.Errorf("locktest: %v", err)
		}
	}
}

// newBroken returns the Broken for a world that breaks rules. worlds is how many worlds had
// been tried by then.
func (e *explorer) newBroken(w runs.WorldSpec, rules []string, worlds int) Broken {
	world := replayWorld(w)
	return Broken{
		Faults: describeFaults(w), Rules: rules, Worlds: worlds,
		Seed: e.search.Bases[w.Base].Seed, Replay: world, Command: e.replayLine(world),
	}
}

// brokenRules lists the rules that the lock itself breaks in a world. It leaves out what an
// inconclusive run does not prove.
func brokenRules(o runs.WorldResult) []string {
	var all []string
	for _, r := range []runs.RunResult{o.Off, o.On} {
		for _, b := range r.Breaks {
			isProven := r.Doubt == "" && !r.RanOn || b.Why != ""
			if isProven && b.Blame == checks.BlameLock && !slices.Contains(all, b.What) {
				all = append(all, b.What)
			}
		}
	}
	return all
}

// describeFaults returns the faults of a world, each in one line.
func describeFaults(w runs.WorldSpec) []string {
	all := []string{} // not nil, so in JSON an empty list is [] and not null
	for _, f := range w.Faults {
		all = append(all, fmt.Sprint(f))
	}
	return all
}
