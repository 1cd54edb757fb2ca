// Package setting describes what the runs of a scenario begin with: the lock, the servers, the
// clients, the network and the faults. It says nothing about the result.
package setting

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Row describes one part of a setting. About names the part, such as "lock" or "client-1".
type Row struct{ About, Text story.Raw }

// newRow returns a row.
func newRow(about, text string) Row { return Row{story.Raw(about), story.Raw(text)} }

// Describe lists what a run begins with: the lock, the servers, the clients, the network and the
// faults. The list contains nothing about the result, because explanations and questions begin with
// it.
func Describe(run scenarios.RunResult, seed uint64) []Row {
	return describe(run, seed, func(*sim.Config, *hints) {})
}

// describe is [Describe] for a world that is changed before it is described. change makes the
// changes, which do not affect the run, and adds hints that replace hidden times.
func describe(run scenarios.RunResult, seed uint64, change func(*sim.Config, *hints)) []Row {
	config, err := run.Variant.Config(scenarios.Options{Seed: seed, Lock: run.Lock, Fencing: scenarios.On})
	switch {
	case err == nil:
	case run.History == nil:
		return []Row{newRow("lock", story.Visible(run.Lock))} // the configuration needs the lock's system, which is not linked into this program
	default:
		panic(err) // cannot happen: the run was made with this configuration
	}
	hidden := &hints{ttl: config.Lock.TTL, byRow: map[string][]string{}, phrase: trace.Point.Phrase}
	change(&config, hidden)
	rows := DescribeChanges(config.Overrides)
	add := func(about, text string) {
		rows = append(rows, newRow(about, strings.Join(append([]string{text}, hidden.byRow[about]...), ", ")))
	}
	locks, idle := config.NewTrace().Locks, []string(nil)
	if run.History != nil {
		locks, idle = run.History.Trace.Locks, run.History.IdleNodes()
	}
	add("lock", lockWords(locks, config.Lock))
	for _, n := range config.Nodes {
		if words := nodeWords(n); words != "" && !slices.Contains(idle, n.Name) {
			add(n.Name, words)
		}
	}
	if source := config.Tokens.Source; source.Name != "" {
		words := source.Name
		if len(config.Tokens.Nodes) > 0 {
			words += " on " + story.List(config.Tokens.Nodes)
		}
		add("tokens", words)
	}
	add("storage", storageWords(config.Storage))
	for _, s := range config.Services {
		words := "forwards requests"
		if s.DropsToken {
			words += " without their fencing tokens"
		}
		add(s.Name, words)
	}
	if s := config.Schedule; s.Periods > 0 {
		add("schedule", scheduleWords(s))
	}
	for _, c := range config.Clients {
		add(c.Name, clientWords(c, hidden.phrase))
	}
	add("network", networkWords(config.Network))
	for i, f := range config.Faults {
		add(fmt.Sprintf("fault %d", i+1), DescribeFault(f))
	}
	if len(config.Faults) == 0 {
		add("faults", "none")
	}
	return rows
}

// storageWords describes the storage.
func storageWords(s sim.Storage) string {
	words := "in the run with fencing it checks " + s.Fencing.Title()
	if s.CopyLag > 0 {
		words += "; its copy is " + story.Span(s.CopyLag) + " behind"
	}
	return words
}

// lockWords describes the lock and its options.
func lockWords(locks []trace.LockInfo, lock sim.Lock) string {
	if len(locks) == 0 {
		return "none"
	}
	l := locks[0]
	if l.GrantsEveryone {
		return l.Kind + ": no lock, every client enters its section"
	}
	nodes := KeepersOf(l)
	words := []string{l.Kind}
	if len(nodes) > 0 {
		words[0] += " on " + story.Count(len(nodes), "node")
	}
	switch {
	case l.TTL > 0:
		words = append(words, "TTL "+story.Span(l.TTL))
	case len(nodes) > 0:
		words = append(words, "no TTL")
	}
	o := lock.Options
	if o.Ask != "" {
		words = append(words, "asks its nodes "+strings.ReplaceAll(string(o.Ask), "-", " "))
	}
	if o.Clock != "" {
		words = append(words, fmt.Sprintf("measures time on the %s clock", o.Clock))
	}
	if o.NodeTimeout > 0 {
		words = append(words, "waits "+story.Span(o.NodeTimeout)+" for each node")
	}
	if o.Holders > 0 {
		words = append(words, fmt.Sprintf("up to %d holders", o.Holders))
	}
	if o.Expects > 0 {
		words = append(words, "expects sections of "+story.Span(o.Expects))
	}
	if o.Failures > 0 {
		words = append(words, "gives up on its nodes after "+story.Count(o.Failures, "failure")+" in a row")
	}
	if o.OpenFor > 0 {
		words = append(words, "asks them again after "+story.Span(o.OpenFor))
	}
	if o.Fallback != "" {
		words = append(words, fmt.Sprintf("falls back to %s while its nodes do not answer", o.Fallback))
	}
	for _, feature := range o.Without {
		words = append(words, feature+" turned off")
	}
	return strings.Join(words, ", ")
}

// nodeWords describes the settings of a node; "" if it has none.
func nodeWords(n sim.Node) string {
	var words []string
	if n.ReplicaOf != "" {
		words = append(words, "a replica of "+n.ReplicaOf)
	}
	if n.Lag > 0 {
		words = append(words, story.Span(n.Lag)+" behind its master")
	}
	if n.Persistence != "" && n.Persistence != sim.NoPersistence {
		words = append(words, fmt.Sprintf("persistence %s", n.Persistence))
	}
	words = append(words, n.Settings...)
	return strings.Join(words, ", ")
}

// clientWords describes how a client differs from the default client, which acquires, reads, works,
// writes and releases once, from the start of the run. phrase says in words when a point is
// reached, such as "when client-1 acquired".
func clientWords(c sim.Client, phrase func(trace.Point) string) string {
	words := []string{"starts immediately"}
	if !c.Starts.IsZero() {
		words[0] = "starts " + phrase(c.Starts)
	}
	add := func(applies bool, format string, args ...any) {
		if applies {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(c.Key != "", "uses the lock %s", c.Key)
	add(c.Sections > 1, "%s", story.Count(c.Sections, "section"))
	add(c.Attempts == 1, "asks for the lock once")
	add(c.Attempts > 1, "asks for the lock up to %d times", c.Attempts)
	add(c.RetryEvery != 0 && c.RetryEvery != time.Second, "asks again after %s", story.Span(c.RetryEvery))
	add(c.Retry != "", "retries: %s", c.Retry)
	add(c.Works > 0, "works for %s", story.Span(c.Works))
	add(!c.WorksUntil.IsZero(), "works until %s", c.WorksUntil)
	add(c.KeepsFor > 0, "keeps the lock for at least %s", story.Span(c.KeepsFor))
	add(c.ExtendsEvery > 0, "extends its lease every %s", story.Span(c.ExtendsEvery))
	add(!c.Cancels.IsZero(), "cancels its current call of the lock %s", phrase(c.Cancels))
	add(c.CancelsAfter > 0, "cancels a call of the lock that takes longer than %s", story.Span(c.CancelsAfter))
	add(c.GivesUp > 0, "stops waiting for the storage's answer after %s", story.Span(c.GivesUp))
	add(c.Resends, "resends unanswered requests")
	add(c.StartsOver, "starts over when it is refused")
	text := strings.Join(words, ", ")
	if c.Does != nil {
		var tasks []string
		for _, task := range c.Does {
			tasks = append(tasks, task.String())
		}
		text += "; in its section: " + strings.Join(tasks, ", ")
	}
	return text
}

// scheduleWords describes when the clients' job is due.
func scheduleWords(s trace.Schedule) string {
	words := "the job is due once, in a period of " + story.Span(s.Every)
	if s.Periods > 1 {
		words = fmt.Sprintf("the job is due once in each of %d periods of %s", s.Periods, story.Span(s.Every))
	}
	if s.Repeatable {
		words += "; running it twice does no harm"
	}
	if s.First > 0 {
		words += ", from " + story.Span(s.First) + " on"
	}
	return words
}

// networkWords describes how long messages take.
func networkWords(n sim.Network) string {
	words := []string{"every message takes " + latencyWords(n.Min, n.Max)}
	for _, p := range n.Paths {
		words = append(words, fmt.Sprintf("%s between %s and %s", latencyWords(p.Min, p.Max), p.Between, p.And))
	}
	return strings.Join(words, "; ")
}

// latencyWords describes a range of latencies.
func latencyWords(shortest, longest time.Duration) string {
	if shortest == longest {
		return story.Span(shortest)
	}
	return story.Span(shortest) + " to " + story.Span(longest)
}

// DescribeFault says what a fault does, when it strikes and when it ends.
func DescribeFault(f sim.Fault) string { return f.Text + ", " + f.Course() }

// DescribeChanges lists the values that somebody has changed for a run.
func DescribeChanges(overrides []string) []Row {
	var rows []Row
	for i, o := range overrides {
		row := newRow("changed", story.Visible(o))
		if i > 0 {
			row.About = ""
		}
		rows = append(rows, row)
	}
	return rows
}

// KeepersOf returns the nodes that keep a lock: the members of its cluster, or the nodes of
// its slots.
func KeepersOf(l trace.LockInfo) map[string]bool {
	nodes := map[string]bool{}
	for _, m := range l.Members {
		nodes[m] = true
	}
	for _, s := range l.Slots {
		if len(l.Members) == 0 {
			nodes[s.Node] = true
		}
	}
	return nodes
}
