package setting

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// DescribeForQuestion is [Describe] for readers who have to predict the result. A scenario often
// says when something happens by what clients achieve: a fault lasts until client-2 has
// released. That gives away that client-2 gets the lock. DescribeForQuestion gives the times of
// the run instead. The run must have a history.
func DescribeForQuestion(run scenarios.RunResult, seed uint64) []Row {
	h := run.History
	return describe(run, seed, func(config *sim.Config) {
		config.Clients, config.Faults = slices.Clone(config.Clients), slices.Clone(config.Faults)
		for i := range config.Clients {
			hideOutcomesOfClient(h, &config.Clients[i])
		}
		for i := range config.Faults {
			hideOutcomesOfFault(h, i+1, &config.Faults[i])
		}
	})
}

// hideOutcomesOfClient replaces the points of a client that give away a result.
func hideOutcomesOfClient(h *history.History, c *sim.Client) {
	var began, worked time.Duration
	for _, call := range h.Calls() {
		if call.Client != c.Name || call.Began == nil {
			continue
		}
		if began == 0 {
			began = call.Began.At
		}
		if call.Step == trace.Work && worked == 0 && call.Ended != nil {
			worked = call.Ended.At - call.Began.At
		}
	}
	if !c.WorksUntil.IsZero() {
		c.WorksUntil, c.Works = trace.Point{}, worked.Round(time.Millisecond)
	}
	if c.Starts.IsZero() || !isOutcome(h, c.Starts) {
		return
	}
	c.Starts = trace.Point{}
	if began > 0 {
		c.Starts = afterStart(began)
	}
}

// hideOutcomesOfFault replaces the points of a fault that give away a result. n is its number.
func hideOutcomesOfFault(h *history.History, n int, f *sim.Fault) {
	i := slices.IndexFunc(h.Acts(), func(a *history.Act) bool { return a.Fault == n })
	if i < 0 {
		return // the fault did not act
	}
	act := h.Acts()[i]
	isBeforeOther := !f.Strikes.Before.IsZero() && f.Strikes.Before.Client != firstHolder(h)
	if isBeforeOther || !f.Strikes.When.IsZero() && isOutcome(h, f.Strikes.When) {
		f.Strikes = trace.Trigger{At: max(act.Struck.At.Round(time.Millisecond), time.Millisecond)}
	}
	if f.Until.IsZero() {
		return
	}
	f.Until = trace.Point{}
	if act.Lifted != nil {
		f.For = (act.Lifted.At - act.Struck.At).Round(time.Millisecond)
	}
}

// isOutcome reports whether a point says what a client achieves with the lock. What the first
// holder achieves is no secret, except that the lock or the storage refuses it something.
func isOutcome(h *history.History, p trace.Point) bool {
	return slices.ContainsFunc(p.Clauses(), func(c trace.Clause) bool {
		switch what := c.Happening.(type) {
		case trace.Action:
			if slices.Contains(refusals, what.Verb) {
				return true
			}
			return h.IsClient(what.Process) && what.Process != firstHolder(h) && !slices.Contains(neutralVerbs, what.Verb)
		case trace.StepEnded:
			return what.Client != firstHolder(h)
		case trace.KeysExpired:
			return what.Client != firstHolder(h)
		case trace.RequestServed:
			return true
		}
		return false
	})
}

// refusals are what a client is refused. neutralVerbs say nothing about what a client achieves.
var (
	refusals     = []trace.Verb{trace.NotAcquired, trace.WasRefused}
	neutralVerbs = []trace.Verb{trace.Asked, trace.Paused, trace.Resumed, trace.Crashed, trace.Cancelled}
)

// firstHolder returns the client that was granted a lock first; "" if there is none.
func firstHolder(h *history.History) string {
	if len(h.Sections()) == 0 {
		return ""
	}
	return h.Sections()[0].Client
}

// afterStart returns the point at a time of the run.
func afterStart(at time.Duration) trace.Point {
	p, err := trace.ParsePoint(at.Round(time.Millisecond).String() + " after the start")
	if err != nil {
		panic(err) // the text is valid
	}
	return p
}
