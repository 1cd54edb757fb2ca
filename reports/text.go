package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

func init() {
	Runs.Register(Format[Results]{Name: "text", Title: "a terminal: what happened, in order, and which properties broke", Write: writeText})
	Explanations.Register(Format[Results]{Name: "text", Title: "a terminal", Write: explainText})
	Matrices.Register(Format[*Matrix]{Name: "text", Title: "a terminal", Write: writeMatrixText})
	Searches.Register(Format[*explore.Result]{Name: "text", Title: "a terminal", Write: writeExploredText})
	Tallies.Register(Format[*Tally]{Name: "text", Title: "a terminal", Write: writeTallyText})
}

func writeText(w io.Writer, results []*scenarios.Result, o Options) error {
	t := &text{Options: o}
	for i, r := range results {
		if i > 0 {
			t.line("")
			t.line("%s", o.Palette.faint(strings.Repeat("═", pageWidth)))
			t.line("")
		}
		t.result(r)
	}
	if len(results) > 1 {
		t.line("")
		t.line("%s", summary(results))
		t.line("%s", duration(results, o.Took))
	}
	return t.writeTo(w)
}

func (t *text) result(r *scenarios.Result) {
	d := &document{title: story.Visible(r.Scenario.Name) + ": " + story.Visible(r.Scenario.Title)}
	pairs := stories(r)
	for i, runs := range pairs {
		v := runs[0].Variant
		if len(pairs) > 1 {
			d.begin(fmt.Sprintf("variant %d of %d, %s: %s", i+1, len(pairs), story.Visible(v.Name), story.Visible(v.Title)))
		}
		if i == 0 || v.Story != pairs[i-1][0].Variant.Story {
			d.add("", paragraph(v.Story))
		}
		timeline, left := t.timeline(runs)
		d.add("", facts(cast(runs[0])), figure(timeline), left, verdicts(runs), facts(explain(runs)), append(doubts(runs), expectation(runs)...))
	}
	if len(pairs) > 1 {
		d.add("", sideBySide(pairs, t.Options))
	}
	d.add("", facts(measures(pairs)), paragraph(r.Scenario.Lesson))
	t.document(d)
	t.gap()
	t.line("replay: %s", replay(r, t.Options))
}

// longestStory is how many clauses of the story of one run are told to somebody who does not ask
// for all: nobody reads on a terminal how a hundred clients take their turns.
const longestStory = 300

// timeline tells what happened in the runs of a variant. Of a long story it tells what is the
// nearest to what broke, unless it is to tell everything.
func (t *text) timeline(runs []scenarios.Outcome) (told string, left paragraph) {
	stories, more := make([][]story.Clause, len(runs)), 0
	for i, run := range runs {
		stories[i] = story.Of(run.History, t.Messages)
		if all := len(stories[i]); all > longestStory && !t.Messages {
			stories[i] = diagram.Nearest(run.History, run.Verdict, stories[i], longestStory)
			more = max(more, all-longestStory)
		}
	}
	if more > 0 {
		left = paragraph(story.Raw(fmt.Sprintf("%s of the story are left out here: --messages tells all.", story.Count(more, "step"))))
	}
	return eventsOf(runs, stories, t.Options), left
}

// stories puts the runs of each variant side by side.
func stories(r *scenarios.Result) [][]scenarios.Outcome {
	var pairs [][]scenarios.Outcome
	for i, run := range r.Runs {
		if i == 0 || run.Variant != r.Runs[i-1].Variant {
			pairs = append(pairs, nil)
		}
		last := len(pairs) - 1
		pairs[last] = append(pairs[last], run)
	}
	return pairs
}

// keepersOf are the nodes that keep a lock: those of its slots, or the members of its
// cluster.
func keepersOf(l trace.LockInfo) map[string]bool {
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

// doubts tell what makes the reader careful: what did not happen that should
// have, what a paused process did, what was left half done.
func doubts(runs []scenarios.Outcome) points {
	var all points
	for i, w := range runs[0].Verdict.Witnesses {
		seen := story.Visible(w.Text)
		if missing := missedIn(runs, i); missing == "" {
			all = append(all, point{goodSign, "seen: " + seen})
		} else {
			all = append(all, point{badSign, strings.TrimSuffix("NOT seen "+missing, " in any run") + ": " + seen})
		}
	}
	for _, run := range runs {
		doubt := func(says string) { all = append(all, point{doubtSign, runName[run.Fencing] + ": " + says}) }
		if run.Verdict.RanOn {
			doubt("a paused process ran on, so nothing that it took part in is held against the lock")
		}
		for _, r := range run.Verdict.Repeated {
			doubt(story.Repeated(r).String())
		}
		for _, m := range run.Verdict.Missed {
			doubt(story.Missed(m).String())
		}
		for _, torn := range run.Verdict.Torn {
			doubt(story.Torn(torn).String())
		}
	}
	return all
}

// expectation says whether the runs came to what the scenario expects.
func expectation(runs []scenarios.Outcome) points {
	switch standing := standingOfRuns(runs); standing {
	case Undecided:
		return append(points{{standingBadges[standing], "nobody can tell whether that is as expected"}}, each(runs, func(run scenarios.Outcome) []checks.Reason { return run.Verdict.Reasons })...)
	case NotAsExpected:
		return append(points{{standingBadges[standing], "not as expected"}}, each(runs, func(run scenarios.Outcome) []checks.Reason { return run.Differences })...)
	case NothingExpected:
		return points{{standingBadges[standing], fmt.Sprintf("the scenario expects nothing of the lock %q", story.Visible(runs[0].Lock))}}
	}
	return points{{standingBadges[AsExpected], "as expected"}}
}

// each lists what there is to say of each run, once if it is the same of all.
func each(runs []scenarios.Outcome, what func(scenarios.Outcome) []checks.Reason) points {
	said := make([][]string, len(runs))
	for i, run := range runs {
		for _, s := range what(run) {
			said[i] = append(said[i], story.Told(s).String())
		}
	}
	var all points
	for i, run := range runs {
		for _, s := range said[i] {
			inAll := !slices.ContainsFunc(said, func(other []string) bool { return !slices.Contains(other, s) })
			switch {
			case inAll && i == 0:
				all = append(all, point{Says: s})
			case !inAll:
				all = append(all, point{Says: runName[run.Fencing] + ": " + s})
			}
		}
	}
	return all
}

// summary counts the results.
func summary(results []*scenarios.Result) string {
	came := map[Standing]int{}
	for _, r := range results {
		came[StandingOf(r)]++
	}
	return story.Count(len(results), "scenario") + ": " + standingsWords(came, "this lock")
}

// standingsWords says how often what stood how, with a lock.
func standingsWords(came map[Standing]int, lock string) string {
	text := fmt.Sprintf("%d as expected, %d not as expected, %d unknown", came[AsExpected], came[NotAsExpected], came[Undecided])
	if n := came[NothingExpected]; n > 0 {
		text += fmt.Sprintf(", %d of which nothing is expected with %s", n, lock)
	}
	return text
}

// duration says how much virtual time all runs together were, and how long that
// took, if that is known.
func duration(results []*scenarios.Result, took time.Duration) string {
	runs, virtual := 0, time.Duration(0)
	for _, r := range results {
		for _, run := range r.Runs {
			runs++
			virtual += run.History.Trace.End()
		}
	}
	text := fmt.Sprintf("%s: %s of virtual time", story.Count(runs, "run"), story.Roughly(virtual))
	if took > 0 {
		text += " in " + story.Roughly(took)
	}
	return text
}
