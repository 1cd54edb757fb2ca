package locktest

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	voice "github.com/locksim/locksim/internal/story"
)

// run runs every test case, and reports at the end what the lock does wrong. If -run or -skip
// chooses among the test cases, each test case that is chosen is a subtest. With go test -json,
// each test case that applies to the lock is a subtest. With -v, each test case that fails is a
// subtest. Otherwise there are no subtests: go test would print a line for each, and hide the
// report.
func (s *subject) run(t *testing.T, call string) {
	t.Helper()
	selects := selectsSubtests(s.test)
	known, err := readKnown(s.config.Known)
	if err == nil {
		err = checkReportFile()
	}
	if err != nil {
		t.Fatal(err)
	}
	wanted := order{Seeds: s.seeds(t), Timelines: testing.Verbose() && selects}
	pool := s.pool(t, call)
	defer pool.Close()
	all := s.testCases()
	tasks := make([]*task, len(all))
	for i, st := range all {
		if tasks[i] = (&task{TestCase: st.name}); !selects {
			tasks[i].submit(pool, wanted) // the subtests wait for their results
		}
	}
	sum := &summary{subject: s, lists: testing.Verbose(), selects: selects, known: known}
	for i, st := range all {
		if c, stops := sum.findHang(); stops {
			sum.leaveOut(c, len(all)-i)
			break
		}
		if selects {
			t.Run(st.name, func(t *testing.T) {
				tasks[i].submit(pool, wanted)
				o, printed := tasks[i].wait(pool)
				sum.add(st, o)
				s.report(t, st, sum.withoutKnown(o), printed)
			})
			continue
		}
		o, printed := tasks[i].wait(pool)
		sum.add(st, o)
		o = sum.withoutKnown(o)
		switch failed := len(o.Problems) > 0; {
		case failed && testing.Verbose(), isJSON() && o.NotApplicable == "":
			t.Run(st.name, func(t *testing.T) { s.report(t, st, o, printed) })
		}
	}
	if err := writeReport(sum.suiteTest()); err != nil {
		t.Error(err)
	}
	switch {
	// If the user has selected a single test case, its result may well be unknown.
	case len(sum.unknownCauses()) > 0, sum.showsNothing() && sum.count > 1:
		t.Error(sum)
	case sum.count > 0:
		t.Log(sum)
	}
}

// seeds returns on how many seeds each test case runs.
func (s *subject) seeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("LOCKSIM_SEEDS")
	if text == "" {
		return uint64(max(s.config.Seeds, 1))
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("locktest: LOCKSIM_SEEDS is %q; give the number of seeds, at least 1", text)
	}
	return n
}

// selectsSubtests reports whether the flag -run or -skip chooses among the subtests of a
// test. Which of them run is then known only when they begin.
func selectsSubtests(test string) bool {
	depth := strings.Count(test, "/") + 1
	return strings.Count(flagValue("test.run"), "/") >= depth || flagValue("test.skip") != ""
}

// flagValue returns the value of a flag of the test's binary, or "".
func flagValue(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// report reports the result of a test case in its subtest.
func (s *subject) report(t *testing.T, st testCase, o testResult, printed string) {
	t.Helper()
	if printed != "" {
		t.Logf("the lock printed:\n%s", printed)
	}
	if o.Timelines != "" {
		t.Logf("%s\n\n%s", st.title, o.Timelines)
	}
	if o.LatencyDivisor > 1 {
		t.Log(describePace(o.LatencyDivisor))
	}
	if len(o.Problems) > 0 {
		s.reportFailure(t, st, o)
		return
	}
	if o.Releases.Failed > 0 {
		t.Log(o.Releases)
	}
	for _, e := range o.Excused {
		t.Log(e)
	}
	switch {
	case o.NotApplicable != "":
		t.Skip("not applicable to this lock: " + o.NotApplicable)
	case o.Unknown != "":
		t.Skip("unknown, which is not a pass: " + o.Unknown)
	}
}

// reportFailure writes a line for each mistake, in the subtest of a test case that fails the lock.
// The end of the report explains each mistake once.
func (s *subject) reportFailure(t *testing.T, st testCase, o testResult) {
	t.Helper()
	for _, c := range o.Causes.sorted() {
		t.Logf("%s: in %d of %s", c.title(), c.Worlds, voice.Count(o.Worlds, "world"))
	}
	if isJSON() {
		s.finding(st, o).Attr(t)
	}
	t.Fail()
}

// isJSON reports whether the output of the test is read by a program, as with go test
// -json.
func isJSON() bool { return flagValue("test.v") == "test2json" }

// pool makes the workers of a call, one for each processor. Each runs one test case at a
// time, and is started when there is one for it.
func (s *subject) pool(t *testing.T, call string) *runs.Pool {
	t.Helper()
	pool, err := runs.NewPool(runs.PoolOptions{
		Workers: runtime.GOMAXPROCS(0), MaxSilence: s.maxSilence(), Command: func() *exec.Cmd { return workerProcess(call) },
	})
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	return pool
}

// A task is one test case that a worker is to run.
type task struct {
	TestCase string
	job      *runs.Job
	// currentWorld is the world that the worker began last. It is to blame if the worker
	// dies.
	currentWorld string
}

// submit gives the task to a worker.
func (k *task) submit(pool *runs.Pool, wanted order) {
	wanted.TestCase, k.currentWorld = k.TestCase, k.TestCase
	k.job = pool.Submit(context.Background(), wanted, func(world string) { k.currentWorld = world })
}

// wait returns the result of the test case, and what the lock printed.
func (k *task) wait(pool *runs.Pool) (o testResult, printed string) {
	printed, err := pool.Wait(k.job, &o)
	var died *runs.Death
	switch {
	case errors.As(err, &died) && died.Exit == "exit status 0" && k.currentWorld == k.TestCase:
		o = failedResult(address{TestCase: k.TestCase, Seed: 1}, ruleError, neverServed, "")
	case err != nil:
		o = resultOfDeath(k.currentWorld, err)
	}
	return o, printed
}

// neverServed explains why no world was run, if a worker ended without an error before the first
// world.
const neverServed = "locktest runs the test in processes of its own, and there the test ended without this call of locktest; " +
	"call locktest in each process in the same way, and do not skip the test or choose its name by anything that differs"

// resultOfDeath returns the result of a test case whose worker died while it ran a world.
func resultOfDeath(world string, err error) testResult {
	addr, parseErr := parseAddress(world)
	var died *runs.Death
	if parseErr != nil || !errors.As(err, &died) {
		return failedResult(addr, ruleError, "the process that ran it failed: "+err.Error(), "")
	}
	return failedResult(addr, checks.Property(died.Rule()), "the process that ran it "+died.Error(), died.Stderr)
}

// failedResult returns the result of a test case that failed the lock in one world.
func failedResult(addr address, rule checks.Property, why, lines string) testResult {
	problems := []problem{{Rule: rule, Mistake: checks.Mistake(rule), Why: why, Lines: lines, Address: addr}}
	o := testResult{Worlds: 1, Failed: 1, Problems: problems, Causes: causesOf(problems)}
	if rule == checks.Hang {
		o.Stuck = 1
	}
	return o
}
