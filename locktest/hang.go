package locktest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// A call that never returns may take much real time in each world, and most worlds of a lock
// that hangs show nothing else. So a run or a search stops when it has seen a few worlds that
// hang in the same way.

const (
	// maxHangs is after how many hanging worlds a run stops, if nearly all worlds hang or that many
	// hang in real time.
	maxHangs = 5
	// maxStuck is after how many worlds that hang in real time a run stops, if they are a tenth of
	// all worlds or more. Each of them takes many seconds.
	maxStuck = 2
)

// hangsOften reports whether further worlds would take long and show nothing else than a hang.
// all is the number of worlds that were tried. hung is the number of those that hung, and stuck
// is the number of hung worlds that were stuck in real time.
func hangsOften(all, hung, stuck int) bool {
	return hung >= maxHangs && (10*hung >= 9*all || stuck >= maxHangs) || stuck >= maxStuck && 10*stuck >= all
}

// neverReturns reports whether the mistake m is that a call of the lock never returns.
func neverReturns(m checks.Mistake) bool {
	return m == checks.Mistake(checks.Hang) || m == checks.Mistake(checks.EndlessRetry)
}

// findHang returns a mistake with which the lock hangs so often that further test cases would
// take long and show nothing else. This is so if the hanging worlds took much real time, or are
// nearly all worlds. It does not return a mistake that the test expects.
func (s *summary) findHang() (c cause, found bool) {
	for _, c := range s.causes {
		if neverReturns(c.Mistake) && hangsOften(s.worlds, c.Worlds, s.stuck) && !s.isKnown(c) {
			return c, true
		}
	}
	return c, false
}

// leaveOut notes that test cases were not run, because the lock hangs.
func (s *summary) leaveOut(c cause, testCases int) {
	s.leftOut = testCases
	s.remarks = append(s.remarks, fmt.Sprintf("not run: %s, because the run stopped after %s with the mistake: %s. Correct it, and run the test again.",
		voice.Count(testCases, "test case"), voice.Count(c.Worlds, "world"), c.title()))
}

// A hangWatch runs the worlds of a search. It stops the search when the lock hangs so often
// that further worlds would take long and show nothing else, as [summary.findHang] does.
type hangWatch struct {
	runs.Backend
	stop func()

	mu sync.Mutex
	// ran is how many worlds were run, and stuck how many of them hung in real time. hung
	// are all that hung, and first is the result of the first of them.
	ran, stuck int
	hung       []runs.WorldSpec
	first      runs.WorldResult
	stopped    bool
}

// Run runs a world, and notes whether it hangs.
func (h *hangWatch) Run(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
	o, err := h.Backend.Run(ctx, w)
	if err != nil {
		return o, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ran++
	if i := slices.IndexFunc(o.Off.Breaks, isHang); i >= 0 {
		if len(h.hung) == 0 {
			h.first = o
		}
		h.hung = append(h.hung, w)
		if o.Off.Breaks[i].Why != "" {
			h.stuck++
		}
	}
	if hangsOften(h.ran, len(h.hung), h.stuck) && !h.stopped {
		h.stopped = true
		h.stop()
	}
	return o, nil
}

// hasStopped reports whether the search was stopped.
func (h *hangWatch) hasStopped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopped
}

// isHang reports whether b says that a call of the lock never returned.
func isHang(b runs.Break) bool { return b.What == string(checks.Hang) }

// mistakeOfHang returns the mistake that stopped the search.
func (e *explorer) mistakeOfHang(ctx context.Context, watch *hangWatch) foundMistake {
	var m foundMistake
	for _, w := range watch.hung[:min(len(watch.hung), maxHangs)] {
		m.ways = append(m.ways, explore.Way{Cause: faultNames(w), Example: w, Off: []string{string(checks.Hang)}})
	}
	m.best = m.ways[0]
	hang := watch.first.Off.Breaks[slices.IndexFunc(watch.first.Off.Breaks, isHang)]
	m.best.Why, m.best.Stack = hang.Why, hang.Stack
	all := e.mistakesIn(ctx, watch.Backend, m.best)
	if i := all.index(checks.Mistake(checks.Hang), ""); i >= 0 {
		m.cause = all[i]
	} else { // the lock behaves differently in each run
		m.cause = causesOf([]problem{{Rule: checks.Hang, Mistake: checks.Mistake(checks.Hang), Why: "a call of the lock never returned"}})[0]
	}
	return m
}

// faultNames returns the kinds of a world's faults.
func faultNames(w runs.WorldSpec) (names []string) {
	for _, f := range w.Faults {
		kind, _ := sim.KindOf(f.Action)
		names = append(names, kind.Name)
	}
	return names
}
