package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// describeSetup lists what takes part in a run: the locks, the servers and the faults.
func describeSetup(run scenarios.RunResult) []remark {
	rows := append(rowsOf(setting.DescribeChanges(run.History.Trace.Overrides)), describeLocks(run)...)
	if simulatedTokens(run.History) {
		rows = append(rows, remark{"tokens", "from the simulator, in grant order; failed attempts leave gaps"})
	}
	if run.Represents != "" {
		rows = append(rows, remarkOn("server", run.Represents))
	}
	faults := run.History.Trace.Faults
	for i, f := range faults {
		what := f.Text
		if f.Timing != "" { // traces of old versions have no Timing
			what += ", " + f.Timing
		}
		if f.IdleReason != "" {
			what += " (it did not act: " + f.IdleReason + ")"
		}
		rows = append(rows, remarkOn(fmt.Sprintf("fault %d", i+1), what))
	}
	if len(faults) == 0 {
		rows = append(rows, remark{"faults", "none"})
	}
	return rows
}

// titleOf returns the heading of a report about a scenario. A changed scenario has the title of
// its file.
func titleOf(s *scenarios.Scenario) string {
	return story.Visible(s.Name) + ": " + story.Visible(s.Title) + changedMark(s)
}

// lockOf returns a phrase that names the lock, for the title of a result. It is "" if the
// lock is the scenario's own and the report has no result of the same scenario with another
// lock.
func lockOf(r *scenarios.Result, results []*scenarios.Result) string {
	isOther := func(o *scenarios.Result) bool {
		return o.Scenario.Name == r.Scenario.Name && o.Scenario.File == r.Scenario.File && o.Lock != r.Lock
	}
	if !slices.ContainsFunc(results, isOther) {
		return withOtherLock(r.Runs)
	}
	return ", with the lock " + story.Visible(r.Lock)
}

// simulatedTokens reports whether the simulator issued all fencing tokens of a run. It
// returns false if there are none.
func simulatedTokens(h *history.History) bool {
	hasToken := func(s *history.Section) bool { return s.Token() != 0 }
	hasOwnToken := func(s *history.Section) bool { return len(s.Minted) > 0 }
	return slices.ContainsFunc(h.Sections(), hasToken) && !slices.ContainsFunc(h.Sections(), hasOwnToken)
}

// describeLocks lists the locks of a run, and the settings of their servers that differ
// from the defaults.
func describeLocks(run scenarios.RunResult) []remark {
	rows := []remark{}
	turnedOff, settings := nonDefaults(run)
	for _, l := range run.History.Trace.Locks {
		if l.GrantsEveryone {
			rows = append(rows, remarkOn(lockLabel(run, l), l.Kind+": no lock, every client enters its section"))
			continue
		}
		ttl := "without a TTL"
		if l.TTL > 0 {
			ttl = "TTL " + story.Span(l.TTL)
		}
		words := l.Kind
		if nodes := len(setting.KeepersOf(l)); nodes > 0 {
			words += " on " + story.Count(nodes, "node")
		}
		if l.Holders > 0 {
			words += fmt.Sprintf(", up to %d holders", l.Holders)
		}
		words += ", " + ttl
		if len(turnedOff) > 0 {
			words += ", turned off: " + story.List(turnedOff)
		}
		rows = append(rows, remarkOn(lockLabel(run, l), words))
	}
	if len(settings) > 0 {
		rows = append(rows, remarkOn("servers", "run with "+story.List(settings)))
	}
	return rows
}

// lockLabel returns the label for a lock, with its name if the run has several locks.
func lockLabel(run scenarios.RunResult, l trace.LockInfo) string {
	if len(run.History.Trace.Locks) > 1 {
		return "lock " + l.Name
	}
	return "lock"
}

// nonDefaults returns what differs from the defaults of a run's lock and servers: the
// features of the lock that are turned off, and the settings of the servers.
func nonDefaults(run scenarios.RunResult) (turnedOff, settings []string) {
	config, err := run.Variant.Config(scenarios.Options{Lock: run.Lock, Fencing: run.Fencing})
	if err != nil {
		return nil, nil // the trace was saved with a lock that no longer exists
	}
	for _, n := range config.Nodes {
		for _, s := range n.Settings {
			if !slices.Contains(settings, s) {
				settings = append(settings, s)
			}
		}
	}
	return config.Lock.Options.Without, settings
}
