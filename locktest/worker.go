package locktest

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
)

// Worlds run in workers: processes of the test's binary, started again for this one test. A
// lock that crashes or blocks its process then costs only one test case.

// workerVariable is the environment variable of a worker. Its value names the call of Run
// or Explore that the worker serves; see nextCall.
const workerVariable = "LOCKSIM_WORKER"

// An order asks a worker for one test case. The worker reports each world when it begins,
// and answers with a testResult.
type order struct {
	TestCase string
	Seeds    uint64
	// Timelines asks for the timelines of the worlds that fail. With AllTimelines too, it
	// asks for those of all worlds.
	Timelines, AllTimelines bool
}

// callsMade counts, for each test, the calls of Run, Explore and the like in this process.
var callsMade struct {
	sync.Mutex
	of map[string]int
}

// nextCall names a call of Run or Explore by the test that makes it and the number of the
// call in that test. A worker runs the same code, so it recognizes its call by the name.
func nextCall(test string) string {
	callsMade.Lock()
	defer callsMade.Unlock()
	if callsMade.of == nil {
		callsMade.of = map[string]int{}
	}
	callsMade.of[test]++
	return fmt.Sprintf("%s#%d", test, callsMade.of[test])
}

// serveOrReplay does what this process has to do instead of the call of Run or Explore, and reports
// whether there was anything to do instead. A worker for this call serves the process that started
// it. A worker for another call of the same test does nothing here. With LOCKSIM_REPLAY, a single
// world is replayed.
func serveOrReplay(t *testing.T, call string, runner interface {
	serve()
	replay(t *testing.T, text string)
}) bool {
	t.Helper()
	switch worksFor := os.Getenv(workerVariable); {
	case worksFor == call:
		runner.serve()
	case worksFor != "":
	case replayRequest() != "":
		runner.replay(t, replayRequest())
	default:
		return false
	}
	return true
}

// serve carries out orders until there are no more.
func (s *subject) serve() {
	// Worlds are many and short, so collecting garbage less often saves much time.
	debug.SetGCPercent(400)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(600 << 20) // without a limit, a large world would take five times its size
	}
	runs.Serve(os.Stdin, os.Stdout, func(o order, note func(string)) (any, bool) {
		st, ok := findTestCase(o.TestCase)
		if !ok {
			return failedResult(address{TestCase: o.TestCase, Seed: 1}, ruleError, "there is no test case "+o.TestCase, ""), false
		}
		outcome, broken := s.runTestCase(st, o, func(p address) { note(p.String()) })
		return outcome, broken || sim.LeftBehind() > 0
	})
}

// maxSilence is how much real time may pass without a message from a worker. It is far more
// than any world needs, because the worker itself gives up on a world that takes too long.
func (s *subject) maxSilence() time.Duration { return 3 * s.config.Patience }

// workerProcess returns the command that starts a worker for a call of Run or Explore.
func workerProcess(call string) *exec.Cmd {
	binary, err := os.Executable()
	if err != nil {
		binary = os.Args[0]
	}
	test := call[:strings.LastIndex(call, "#")] // the name of a test may have a # itself
	process := exec.Command(binary, append([]string{
		"-test.run=" + runPattern(test), "-test.count=1", "-test.timeout=0",
	}, testFlags()...)...)
	process.Env = append(os.Environ(), workerVariable+"="+call)
	return process
}

// testFlags returns the flags that the test's own code defines.
func testFlags() []string {
	var own []string
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.") && !strings.HasPrefix(a, "--test.") {
			own = append(own, a)
		}
	}
	return own
}

// runPattern returns the value of -run that selects one test.
func runPattern(test string) string {
	var parts []string
	for _, part := range strings.Split(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(parts, "/")
}
