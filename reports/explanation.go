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
		d.add("What happened", told, figure(events(runs, o)), facts(doubtful(runs)))
		d.add(brokeOrHeld(runs), facts(broke(runs)))
		if several {
			say(afterwards, v.Telling, false)
			if !sameDebate {
				d.add("What each side says", debate(v.Telling))
			}
		}
	}
	if several {
		d.begin("all variants")
		d.add("Side by side", sideBySide(stories, o))
	}
	d.add("What it took", facts(measures(stories)))
	say(afterwards[:1], base, true)
	if sameDebate {
		d.add("What each side says", debate(base))
	}
	say(afterwards[1:], base, true)
	d.add("Source", paragraph(r.Scenario.Source))
	return d
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

// broke says which assumption broke, and what that did to the data and to the
// lock. Which property broke when is in the timeline.
func broke(runs []scenarios.Outcome) []remark {
	v := runs[0].Variant
	var rows []remark
	if v.Assumption != "" {
		rows = append(rows, remarkOn("assumption", v.Assumption+assumptionWords[v.Assumption]))
	}
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
