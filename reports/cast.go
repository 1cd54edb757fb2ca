package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// cast says what the story is told with: the locks, the servers and the faults.
func cast(run scenarios.Outcome) []remark {
	rows := stage(run)
	faults := run.History.Trace.Faults
	for i, f := range faults {
		what := f.Text
		if f.Course != "" { // a trace of long ago does not know
			what += ", " + f.Course
		}
		if f.Idle != "" {
			what += " (it did not act: " + f.Idle + ")"
		}
		rows = append(rows, remarkOn(fmt.Sprintf("fault %d", i+1), what))
	}
	if len(faults) == 0 {
		rows = append(rows, remark{"faults", "none"})
	}
	return rows
}

// stage is the locks of a story, and how their servers are run if not as they come.
func stage(run scenarios.Outcome) []remark {
	rows := []remark{}
	without, settings := changed(run)
	for _, l := range run.History.Trace.Locks {
		if l.Open {
			rows = append(rows, remarkOn("lock", l.Kind+": everybody is let in"))
			continue
		}
		ttl := "without a TTL"
		if l.TTL > 0 {
			ttl = "TTL " + story.Span(l.TTL)
		}
		words := l.Kind
		if nodes := len(keepersOf(l)); nodes > 0 {
			words += " on " + story.Count(nodes, "node")
		}
		if l.Holders > 0 {
			words += fmt.Sprintf(", room for %d", l.Holders)
		}
		words += ", " + ttl
		if len(without) > 0 {
			words += ", without " + story.List(without)
		}
		rows = append(rows, remarkOn("lock", words))
	}
	if len(settings) > 0 {
		rows = append(rows, remarkOn("servers", "run with "+story.List(settings)))
	}
	return rows
}

// changed is what of a run is otherwise than its lock and its servers come: the features that
// are turned off, and the settings of the servers.
func changed(run scenarios.Outcome) (without, settings []string) {
	config, err := run.Variant.Config(scenarios.Options{Lock: run.Lock, Fencing: run.Fencing})
	if err != nil {
		return nil, nil // a saved trace of a lock that there is not any more
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
