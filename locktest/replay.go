package locktest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
)

// replayVariable is the environment variable that asks for a replay of one world.
const replayVariable = "LOCKSIM_REPLAY"

// replayRequest returns the world that the user asks for by LOCKSIM_REPLAY, or "".
func replayRequest() string { return os.Getenv(replayVariable) }

// replayLine returns the command that runs a world again.
func (s *subject) replayLine(world string) string {
	command := cmp.Or(s.config.Command, "go test")
	return fmt.Sprintf("%s='%s' %s -run '%s'", replayVariable, strings.ReplaceAll(world, "'", `'\''`), command, runPattern(s.test))
}

// replays records for each test whether one of its calls of [Run] or [Explore] has run the world
// that LOCKSIM_REPLAY asks for.
var replays struct {
	sync.Mutex
	taken map[string]bool
}

// takeReplay notes that a call of the test runs the world that LOCKSIM_REPLAY asks for.
func takeReplay(t *testing.T) {
	replays.Lock()
	defer replays.Unlock()
	if replays.taken == nil {
		replays.taken = map[string]bool{}
	}
	replays.taken[t.Name()] = true
}

// leaveToOtherCall fails the test at its end if no other call has run the world that
// LOCKSIM_REPLAY asks for. Otherwise it would pass and have run nothing.
func leaveToOtherCall(t *testing.T, call string) {
	t.Cleanup(func() {
		replays.Lock()
		defer replays.Unlock()
		if !replays.taken[t.Name()] {
			t.Errorf("locktest: %s has a world of %s, which this test does not call; copy the replay line as this test printed it", replayVariable, call)
		}
	})
}

// replay runs one world in this process, where a debugger can look at it, and shows its
// whole timeline. It runs the world twice, to see whether the runs are equal.
func (s *subject) replay(t *testing.T, text string) {
	t.Helper()
	if strings.HasPrefix(text, replayPrefix) {
		leaveToOtherCall(t, "locktest.Explore")
		return
	}
	takeReplay(t)
	p, err := parseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Run(p.TestCase, func(t *testing.T) {
		w, err := s.world(p)
		var notApplicable notApplicableError
		switch {
		case errors.As(err, &notApplicable):
			t.Skip("not applicable to this lock: " + string(notApplicable))
		case err != nil:
			t.Fatal(err)
		}
		v := s.runWorld(p, w)
		st, _ := findTestCase(p.TestCase)
		show(t, strings.Join(append([]string{st.title}, faultsOf(v)...), "\n"), []string{""}, []verdict{v})
		if v.history != nil {
			requireRepeatable(t, []verdict{v}, []verdict{s.runWorld(p, w)})
		}
		if v.notApplicable != "" {
			t.Skip("not applicable to this lock: " + v.notApplicable)
		}
	})
}

// faultsOf describes the faults of a world, a line for each.
func faultsOf(v verdict) (lines []string) {
	if v.history == nil {
		return nil
	}
	for _, f := range v.history.Trace.Faults {
		line := "fault: " + f.Text
		if f.Timing != "" {
			line += ", " + f.Timing
		}
		lines = append(lines, line)
	}
	return lines
}

// show logs the whole timelines of a world's runs, under their names, and reports the
// verdicts on the lock.
func show(t *testing.T, title string, names []string, verdicts []verdict) {
	t.Helper()
	var all []*history.History
	for _, v := range verdicts {
		if v.history != nil {
			all = append(all, v.history)
		}
	}
	if len(all) > 0 {
		t.Logf("%s\n\n%s", title, reports.Timeline{Messages: os.Getenv("LOCKSIM_MESSAGES") != ""}.Render(names[:len(all)], all))
	}
	var o testResult
	for i, v := range verdicts {
		o.add(address{}, world{}, v)
		if v.history != nil {
			t.Log(strings.TrimSpace(names[i] + " trace " + v.history.Trace.Hash()))
		}
		for _, r := range v.reasons {
			t.Log("unknown: " + r)
		}
	}
	if o.LatencyDivisor > 1 {
		t.Log(describePace(o.LatencyDivisor))
	}
	for _, e := range o.Excused {
		t.Log(e)
	}
	for _, p := range o.Problems {
		t.Error(p)
	}
}

// A notApplicableError says why a test case does not apply to the lock.
type notApplicableError string

func (e notApplicableError) Error() string {
	return "locktest: the test case is not applicable to this lock: " + string(e)
}

// world returns the world that an [address] names.
func (s *subject) world(p address) (world, error) {
	st, _ := findTestCase(p.TestCase)
	worlds, notApplicable, err := st.worlds(s, p.Seed)
	switch {
	case err != nil:
		return world{}, fmt.Errorf("locktest: the test case cannot be run: %w", err)
	case notApplicable != "":
		return world{}, notApplicableError(notApplicable)
	}
	var names []string
	for _, w := range worlds {
		if w.name == p.World {
			return w, nil
		}
		names = append(names, w.name)
	}
	return world{}, fmt.Errorf("locktest: %s has no world %q; it has %s", p.TestCase, p.World, strings.Join(names, ", "))
}
