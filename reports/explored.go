package reports

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// exploredLock describes the lock that a search was about: "redlock on 5 nodes, TTL 30s".
func exploredLock(r *explore.Result) string {
	words := story.Visible(r.Lock)
	if r.Nodes > 0 {
		words += " on " + story.Count(r.Nodes, "node")
	}
	if r.TTL > 0 {
		return words + ", TTL " + trace.ShortDuration(r.TTL)
	}
	return words + ", no TTL"
}

// exploredTitle says how many ways to break the lock a search found.
func exploredTitle(r *explore.Result) string {
	if len(r.Ways) == 0 {
		return exploredLock(r) + ": the search found no way to break it"
	}
	return fmt.Sprintf("%s: %s to break it", exploredLock(r), story.Count(len(r.Ways), "way"))
}

// incompleteWarning says why a search ended early, in which case it may have missed ways to
// break the lock. It returns "" if the search finished.
func incompleteWarning(r *explore.Result) string {
	if r.Stopped == "" {
		return ""
	}
	return "INCOMPLETE, because " + story.Visible(r.Stopped) + ": this is what the search had found so far."
}

// searchFacts describes a search: at how many points faults could strike in each workload,
// and with which options the search ran.
func searchFacts(r *explore.Result) []remark {
	var rows []remark
	for _, b := range r.Bases {
		text := fmt.Sprintf("%s at which a fault can strike: before each of %s, and when each of %s is sent or arrives",
			story.Count(b.Points, "point"), story.Count(b.Steps, "step"), story.Count(b.Messages, "message"))
		if b.Broke != "" {
			text += "; WITHOUT ANY FAULT this broke: " + b.Broke
		}
		if b.Doubt != "" {
			text = "NOT EXPLORED: " + b.Doubt
		}
		rows = append(rows, remarkOn("workload "+b.Name, text))
	}
	if r.Takeover > 0 {
		rows = append(rows, remarkOn("takeover", fmt.Sprintf("another client is granted the lock %s after a crash of its holder; the longest faults last twice as long",
			trace.ShortDuration(r.Takeover))))
	}
	plan := "every single fault"
	if r.Quick {
		plan = "QUICK: only the classic causes"
	}
	if !r.Kinds.IsZero() {
		plan += " of these kinds: " + r.Kinds.String()
	}
	if r.MaxFaults > 1 {
		plan += fmt.Sprintf(", then up to %d at the same time", r.MaxFaults)
	}
	if r.MaxFaults > 1 && r.Budget > 0 {
		plan += " in at most " + story.Count(r.Budget, "world")
	}
	return append(rows, remarkOn("search", fmt.Sprintf("%s; seed %d", plan, r.Seed)))
}

// aboutRanOn explains why a report lists some ways separately: in these ways a paused
// process kept running.
const aboutRanOn = "A paused process still did something, because the lock's timers kept running. That cannot happen in a real pause, so the lock is not blamed for it."

// exploredSummary is the last line of a report: it counts what was found. since is the
// comparison with an earlier search, or nil.
func exploredSummary(r *explore.Result, since *Comparison) string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	blamed, fenced := 0, 0
	for _, w := range r.Ways {
		if w.Blame == checks.BlameLock {
			blamed++
		}
		if corrupts(w.On) {
			fenced++
		}
	}
	add("%s to break it", story.Count(len(r.Ways), "way"))
	if len(r.Ways) > 0 {
		words[0] += fmt.Sprintf(" (%d the lock's own fault, %d with wrong data even with fencing tokens)", blamed, fenced)
	}
	if len(r.RanOn) > 0 {
		add("%d listed separately", len(r.RanOn))
	}
	if since != nil {
		add("%d new and %d not found again since %s", len(since.New), len(since.Gone), story.Visible(since.Since))
	}
	switch {
	case r.First > 0:
		add("%s, and the first break was in world number %s", WorldsTried(r.Worlds, r.RunCount()), story.Thousands(r.First))
	default:
		add("%s, and nothing broke", WorldsTried(r.Worlds, r.RunCount()))
	}
	if r.Stopped != "" {
		add("INCOMPLETE")
	}
	return story.Visible(r.Lock) + ": " + strings.Join(words, "; ")
}

// exploredDocument returns the parts that all reports of searches have in common: title,
// warning, facts about the search, and summary. since is the comparison with an earlier
// search, or nil.
func exploredDocument(r *explore.Result, since *Comparison) *document {
	d := &document{title: exploredTitle(r), warning: incompleteWarning(r), summary: exploredSummary(r, since)}
	d.add("", facts(searchFacts(r)))
	return d
}

// addComparison adds a chapter about the ways that are new or missing since an earlier
// search. It adds nothing if c is nil.
func (d *document) addComparison(r *explore.Result, c *Comparison) {
	if c == nil {
		return
	}
	var lines points
	if len(c.New)+len(c.Gone) == 0 {
		lines = points{{goodSign, "the same ways, and none worse"}}
	}
	for _, n := range c.New {
		lines = append(lines, point{badSign, n.oneLine()})
	}
	for _, w := range c.Gone {
		lines = append(lines, point{goodSign, "not found again: " + describeGone(w)})
	}
	for _, doubt := range c.doubts(r) {
		lines = append(lines, point{doubtSign, doubt})
	}
	d.add("Compared with "+story.Visible(c.Since), lines)
}

// addCoverage adds two chapters: which worlds the search tried, and which kinds of damage
// it did not find.
func (d *document) addCoverage(r *explore.Result) {
	tried := []piece{facts(coverage(r)), paragraph(kindsWords(r)), paragraph(countWords(r))}
	var missing points
	for _, a := range notFound(r) {
		sign := badge{"doubt", "?", ""}
		if a.isFirm {
			sign = goodSign
		}
		missing = append(missing, point{sign, a.text})
	}
	if len(missing) == 0 {
		d.add("What was tried", append(tried, paragraph(notCovered(r)))...)
		return
	}
	d.add("What was tried", tried...)
	d.add("What was not found", missing, paragraph(notCovered(r)))
}

// The signs of good news, bad news and doubts.
var goodSign, badSign, doubtSign = badge{"good", "✓", ""}, badge{"bad", "✗", ""}, badge{"doubt", "!", ""}
