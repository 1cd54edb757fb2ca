package reports

import (
	"fmt"
	"io"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

func explainText(w io.Writer, results []*scenarios.Result, o Options) error {
	t := &text{Options: o}
	for i, r := range results {
		if i > 0 {
			t.line("")
		}
		t.document(explanation(r, o))
		t.gap()
		t.line("replay: %s", replayBy("explain", r, o))
	}
	return t.writeTo(w)
}

func explainMarkdown(w io.Writer, results []*scenarios.Result, o Options) error {
	o = o.forOthers()
	m := &markdownText{level: 1}
	for _, r := range results {
		m.document(explanation(r, o))
		m.line("\nReplay: %s", code(replayBy("explain", r, o)))
	}
	return m.writeTo(w)
}

// explanation tells a result. What all variants have in common is told once:
// what comes before the events in front of them, what comes after behind them.
func explanation(r *scenarios.Result, o Options) *document {
	d := &document{title: story.Visible(r.Scenario.Name) + ": " + story.Visible(r.Scenario.Title)}
	if v := r.Scenario.Variants[0]; len(r.Scenario.Variants) == 1 && v.Name != "" {
		d.title = Row{Scenario: r.Scenario, Variant: v}.name() + ": " + story.Visible(v.Title)
	}
	stories := stories(r)
	settings := make([][]remark, len(stories))
	for i, runs := range stories {
		settings[i] = setting(runs[0], r.Seed)
	}
	common := inCommon(settings)
	shared := func(field func(scenarios.Telling) string) bool {
		return !slices.ContainsFunc(stories, func(runs []scenarios.Outcome) bool {
			return field(runs[0].Variant.Telling) != field(stories[0][0].Variant.Telling)
		})
	}
	// say adds what all variants say alike, or what they do not.
	say := func(sayings []saying, of scenarios.Telling, same bool) {
		for _, c := range sayings {
			if shared(c.field) == same {
				d.add(c.title, paragraph(c.field(of)))
			}
		}
	}
	base := stories[0][0].Variant.Telling
	sameDebate := !slices.ContainsFunc(stories, func(runs []scenarios.Outcome) bool {
		return !slices.Equal(runs[0].Variant.Voices(), base.Voices())
	})
	several := len(stories) > 1

	d.add("The setting", facts(common))
	say(beforehand, base, true)
	if several && shared(theStory) {
		d.add("The story", paragraph(base.Story))
	}
	for i, runs := range stories {
		v := runs[0].Variant
		if several {
			d.begin(fmt.Sprintf("variant %d of %d, %s: %s", i+1, len(stories), story.Visible(v.Name), story.Visible(v.Title)))
			d.add("The setting of this variant", facts(without(settings[i], common)))
			say(beforehand, v.Telling, false)
		}
		told := paragraph(v.Story)
		if several && shared(theStory) {
			told = ""
		}
		if hasRun(runs) {
			d.add("What happened", told, figure(events(runs, o)), facts(doubtful(runs)))
			d.add(brokeOrHeld(runs), facts(broke(runs)))
		} else {
			d.add("The story", told)
			d.add("What is expected", facts(expected(runs)))
		}
		if several {
			say(afterwards, v.Telling, false)
			if !sameDebate {
				d.add("What each side says", debate(v.Telling))
			}
		}
	}
	ran := slices.DeleteFunc(slices.Clone(stories), func(runs []scenarios.Outcome) bool { return !hasRun(runs) })
	if several {
		d.begin("all variants")
		d.add("Side by side", sideBySide(ran, o))
	}
	d.add("What it took", facts(measures(ran)))
	say(afterwards[:1], base, true)
	if sameDebate {
		d.add("What each side says", debate(base))
	}
	say(afterwards[1:], base, true)
	d.add("Source", paragraph(r.Scenario.Source))
	d.add("Left out", leftOut(stories))
	return d
}

// hasRun reports whether runs were made; otherwise only what is known without them is told.
func hasRun(runs []scenarios.Outcome) bool { return runs[0].History != nil }

// leftOut says which stories are not told in full, because this program is without their locks.
func leftOut(stories [][]scenarios.Outcome) paragraph {
	var lacks []string
	for _, runs := range stories {
		if lock := story.Visible(runs[0].Lock); !hasRun(runs) && !slices.Contains(lacks, lock) {
			lacks = append(lacks, lock)
		}
	}
	if len(lacks) == 0 {
		return ""
	}
	which := "the lock " + story.List(lacks) + " is"
	if len(lacks) > 1 {
		which = "the locks " + story.List(lacks) + " are"
	}
	return paragraph("What happened step by step, and what broke: " + which + " not linked into this program. locksim-all has all locks, and tells it.")
}

// expected says which assumption a story breaks, and what its scenario expects of runs that were
// not made.
func expected(runs []scenarios.Outcome) []remark {
	v := runs[0].Variant
	rows := assumes(v)
	for _, run := range runs {
		if e, ok := v.Expectation(run.Lock, run.Fencing); ok {
			words := e.Verdict
			if len(e.Violated) > 0 {
				words += "; violated: " + story.List(e.Violated)
			}
			rows = append(rows, remarkOn(runName[run.Fencing], words))
		}
	}
	if v.Why != "" && v.Lock == runs[0].Lock {
		rows = append(rows, remarkOn("in short", textwrap.OneLine(v.Why)))
	}
	return rows
}

// brokeOrHeld is the title of what came of the runs.
func brokeOrHeld(runs []scenarios.Outcome) string {
	if slices.ContainsFunc(runs, func(run scenarios.Outcome) bool {
		return run.Verdict.Verdict != checks.Safe || len(violated(run, checks.Properties())) > 0
	}) {
		return "What broke"
	}
	return "What held"
}

// A saying is something that a scenario says about itself in words.
type saying struct {
	title string
	field func(scenarios.Telling) string
}

var (
	beforehand = []saying{
		{"The question", func(t scenarios.Telling) string { return t.Question }},
	}
	afterwards = []saying{
		{"What would have prevented it", func(t scenarios.Telling) string { return t.Prevention }},
		{"The lesson", func(t scenarios.Telling) string { return t.Lesson }},
	}
)

func theStory(t scenarios.Telling) string { return t.Story }

// debate is what each side says.
func debate(t scenarios.Telling) facts {
	var said facts
	for _, v := range t.Voices() {
		said = append(said, remarkOn(v.Name, textwrap.OneLine(v.Says)))
	}
	return said
}

// events is the timeline, with the moments that matter marked.
func events(runs []scenarios.Outcome, o Options) string {
	stories := make([][]story.Clause, len(runs))
	for i, run := range runs {
		stories[i] = clausesOf(run, o.Messages)
	}
	return eventsOf(runs, stories, o)
}

// eventsOf is the timeline of stories that are told already, one of each run.
func eventsOf(runs []scenarios.Outcome, stories [][]story.Clause, o Options) string {
	headings := make([]string, len(runs))
	for i, run := range runs {
		headings[i] = runName[run.Fencing]
	}
	return Timeline{Palette: o.Palette, Messages: o.Messages}.write(headings, stories)
}

// doubtful is what did not happen as the story says.
func doubtful(runs []scenarios.Outcome) []remark {
	var rows []remark
	add := func(about, text string) {
		if row := remarkOn(about, text); !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	for _, run := range runs {
		for _, w := range run.Verdict.Witnesses {
			if !w.Seen {
				add("not seen", w.Text)
			}
		}
		for i, f := range run.History.Trace.Faults {
			if f.Idle != "" {
				add(fmt.Sprintf("fault %d", i+1), "did not act: "+f.Idle)
			}
		}
	}
	return append(rows, notes(runs)...)
}

// assumes says which assumption a story breaks.
func assumes(v *scenarios.Variant) []remark {
	if v.Assumption == "" {
		return nil
	}
	return []remark{remarkOn("assumption", v.Assumption+assumptionWords[v.Assumption])}
}

// broke says which assumption broke, and what that did to the data and to the
// lock. Which property broke when is in the timeline.
func broke(runs []scenarios.Outcome) []remark {
	v := runs[0].Variant
	rows := assumes(v)
	if v.Why != "" && v.Lock == runs[0].Lock {
		rows = append(rows, remarkOn("in short", textwrap.OneLine(v.Why)))
	}
	var data []remark
	for _, run := range runs {
		data = append(data, remarkOn(runName[run.Fencing], story.CameTo(run.History, run.Verdict)))
	}
	rows = append(rows, allTheSame(data, "the data")...)
	return append(rows, explainLocks(runs)...)
}

// assumptionWords say what a lock takes for granted, by the name of the
// assumption.
var assumptionWords = map[string]string{
	"process":        ": every process goes on and keeps pace; none stops, dies or takes longer than its lease",
	"network":        ": a message arrives soon or not at all",
	"clock":          ": clocks run at nearly the same speed and never jump",
	"lock memory":    ": who keeps the lock remembers what was granted",
	"storage memory": ": the storage remembers what it has applied and which tokens it has seen",
}
