package reports

import (
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// wantText compares a timeline with want, which begins with an additional line break.
func wantText(t *testing.T, want, got string) {
	t.Helper()
	if "\n"+got != want {
		t.Errorf("the timeline is:\n%s\nwant:%s", got, want)
	}
}

// readAll returns the histories of some traces.
func readAll(traces ...*trace.Trace) []*history.History {
	all := make([]*history.History, len(traces))
	for i, t := range traces {
		all[i] = history.New(t)
	}
	return all
}

func TestTwoRunsHaveACommonPartUpToTheFirstDifference(t *testing.T) {
	wantText(t, `
   0.005s  client-1  gets the lock on all 3 nodes: token 1, lease until 30.001s
   0.007s  storage   answers client-1's read of x: version 0
   0.010s  client-1  is paused (fault 1)
        ⋮  30s pass
  30.001s  client-1  its lease ends, but it has not released
  30.002s            client-1's key expired on all 3 nodes
  30.009s  client-2  gets the lock on all 3 nodes: token 2, lease until 60.005s
  30.011s  storage   answers client-2's read of x: version 0
  30.014s  storage   applies client-2's write of x (token 2): version 0 → 1
  30.020s  client-2  releases the lock on all 3 nodes
  30.022s  client-1  resumes after 30s (fault 1)
  Same so far. From here on the runs without fencing and with fencing differ:

  without fencing
  30.024s  storage   applies client-1's write of x (token 1): version 1 → 2, but
                     the client had read version 0
  30.027s  client-1  believes that it has released the lock, but none of its
                     keys was still valid

  with fencing
  30.024s  storage   refuses client-1's write of x: token 1 is older than token
                     2, which the storage has already seen
  30.027s  client-1  believes that it has released the lock, but none of its
                     keys was still valid
`, Timeline{}.Render(
		[]string{"without fencing", "with fencing"},
		readAll(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes")),
	))
}

func TestTimelineOfEqualRuns(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, "redis-1")
	wantText(t, `
  0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
  All of this happened in each run: a and b.
`, Timeline{}.Render([]string{"a", "b"}, readAll(&s.Trace, &s.Trace)))
}

func TestHostileTextIsShownEscaped(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Then(trace.Event{Kind: trace.KindDone, Process: "client-\u202e1", Text: "\x1b[2J\r\nok\xff"})
	wantText(t, `
  0.001s  client-\u202e1  stops: \x1b[2J\r\nok\xff
`, Timeline{}.Render(nil, readAll(&s.Trace)))
}

func TestColouredTimelineSaysTheSame(t *testing.T) {
	runs := readAll(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
	headings := []string{"a", "b"}
	plain := Timeline{}.Render(headings, runs)
	if got := stripColours(Timeline{Palette: Colour}.Render(headings, runs)); got != plain {
		t.Errorf("without its colours the timeline is\n%s\nwant\n%s", got, plain)
	}
}
