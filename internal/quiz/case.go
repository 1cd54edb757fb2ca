package quiz

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// worldSeed is the seed of every run that answers a question.
const worldSeed = 1

// A Case is one variant of a scenario with its two runs. Forms (kinds of questions) ask about
// a case.
type Case struct {
	Scenario *scenarios.Scenario
	// Off is the run without fencing tokens, and On the run with them.
	Off, On scenarios.RunResult
}

// RunCase runs the only variant of a scenario without fencing tokens and with them. lock
// replaces the scenario's own lock, unless it is "".
func RunCase(s *scenarios.Scenario, lock string) (*Case, error) {
	runs, notApplicable, err := s.Variants[0].RunBoth(scenarios.RunOptions{Seed: worldSeed, Lock: lock})
	if err == nil && notApplicable != "" {
		err = fmt.Errorf("%s does not apply to the lock %s: %s", s.Name, cmp.Or(lock, s.Variants[0].Lock), notApplicable)
	}
	if err != nil {
		return nil, err
	}
	return &Case{s, runs[0], runs[1]}, nil
}

// runs returns both runs.
func (c *Case) runs() []scenarios.RunResult { return []scenarios.RunResult{c.Off, c.On} }

// isDecided reports whether both runs have a verdict. Nothing is asked of a run that is
// inconclusive.
func (c *Case) isDecided() bool {
	return c.Off.Verdict.Verdict != checks.Undecided && c.On.Verdict.Verdict != checks.Undecided
}

// onlyLock returns the lock of a run that has only one. ok is false if there are several locks, if
// several clients may hold the lock at the same time, or if the trace does not say who holds it.
func onlyLock(h *history.History) (l trace.LockInfo, ok bool) {
	if len(h.Trace.Locks) != 1 {
		return l, false
	}
	l = h.Trace.Locks[0]
	return l, !l.GrantsEveryone && l.Holders < 2 && len(l.Slots) > 0
}

// grantedClients returns the clients that were granted a lock, in the order of their first
// grants.
func grantedClients(h *history.History) []string {
	var names []string
	for _, s := range h.Sections() {
		if !slices.Contains(names, s.Client) {
			names = append(names, s.Client)
		}
	}
	return names
}

// newCamera returns a camera for the clients of a run.
func newCamera(h *history.History) *snapshot.Camera { return snapshot.NewCamera(h, grantedClients(h)) }
