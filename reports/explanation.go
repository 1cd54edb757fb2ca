package reports

import (
	"fmt"
	"io"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// explainText writes explanations for a terminal.
func explainText(w io.Writer, results []*scenarios.Result, o Options) error {
	t := &text{Options: o}
	for i, r := range results {
		if i > 0 {
			t.line("")
		}
		d := explanation(r, o)
		d.title += lockOf(r, results)
		t.document(d)
		t.gap()
		t.line("replay: %s", replayBy("explain", r, o))
	}
	return t.writeTo(w)
}

// explainMarkdown writes explanations in Markdown.
func explainMarkdown(w io.Writer, results []*scenarios.Result, o Options) error {
	o = o.forPublication()
	m := &markdownText{level: 1}
	for _, r := range results {
		d := explanation(r, o)
		d.title += lockOf(r, results)
		m.document(d)
		m.line("\nReplay: %s", markdown.Code(replayBy("explain", r, o)))
	}
	return m.writeTo(w)
}

// explanation returns the explanation of a scenario's result. Things that all variants have
// in common appear once: the setting before the variants, and the conclusions after them.
func explanation(r *scenarios.Result, o Options) *document {
	d := &document{title: titleOf(r.Scenario)}
	if v := r.Scenario.Variants[0]; len(r.Scenario.Variants) == 1 && v.Name != "" {
		d.title = Row{Scenario: r.Scenario, Variant: v}.name() + ": " + story.Visible(v.Title) + changedMark(r.Scenario)
	}
	byVariant := groupByVariant(r)
	settings := make([][]remark, len(byVariant))
	for i, runs := range byVariant {
		settings[i] = rowsOf(setting.Describe(runs[0], r.Seed))
	}
	common := commonRows(settings)
	isShared := func(field func(scenarios.Narrative) string) bool {
		return !slices.ContainsFunc(byVariant, func(runs []scenarios.RunResult) bool {
			return field(runs[0].Variant.Narrative) != field(byVariant[0][0].Variant.Narrative)
		})
	}
	// addSayings adds texts of the scenario: either those that are equal in all variants
	// (ifShared), or those that differ.
	addSayings := func(sayings []saying, narrative scenarios.Narrative, ifShared bool) {
		for _, c := range sayings {
			if isShared(c.field) == ifShared {
				d.add(c.title, paragraph(c.field(narrative)))
			}
		}
	}
	base := byVariant[0][0].Variant.Narrative
	sameDebate := !slices.ContainsFunc(byVariant, func(runs []scenarios.RunResult) bool {
		return !slices.Equal(runs[0].Variant.Opinions(), base.Opinions())
	})
	hasVariants := len(byVariant) > 1

	d.add("The setting", facts(common))
	addSayings(sayingsBefore, base, true)
	if hasVariants && isShared(storyField) {
		d.add("The story", paragraph(storyOf(slices.Concat(byVariant...), base)))
	}
	for i, runs := range byVariant {
		v := runs[0].Variant
		if hasVariants {
			d.beginPart(fmt.Sprintf("variant %d of %d, %s: %s", i+1, len(byVariant), story.Visible(v.Name), story.Visible(v.Title)))
			d.add("The setting of this variant", facts(exclude(settings[i], common)))
			addSayings(sayingsBefore, v.Narrative, false)
		}
		storyText := paragraph(storyOf(runs, v.Narrative))
		if hasVariants && isShared(storyField) {
			storyText = ""
		}
		if hasRun(runs) {
			d.add("What happened", storyText, figure(timelineOf(runs, o)), facts(doubtFacts(runs)))
			d.add(resultTitle(runs), append([]piece{facts(damageFacts(runs))}, turns(r, runs, o)...)...)
		} else {
			d.add("The story", storyText)
			d.add("What is expected", facts(expectedFacts(runs)))
		}
		if hasVariants {
			about := v.Narrative
			if hasRun(runs) {
				about.Lesson = lessonOf(runs, about)
			}
			about.Prevention = preventionOf(runs, about)
			addSayings(sayingsAfter, about, false)
			if !sameDebate {
				d.add("What each side says", debateFacts(v.Narrative))
			}
		}
	}
	executed := slices.DeleteFunc(slices.Clone(byVariant), func(runs []scenarios.RunResult) bool { return !hasRun(runs) })
	if hasVariants {
		d.beginPart("all variants")
		compared := sideBySide(executed, o)
		d.add("Side by side", compared, arrowLegend(compared))
	}
	d.add("Measures", facts(measureFacts(executed)))
	base.Prevention = preventionOf(r.Runs, base)
	addSayings(sayingsAfter[:1], base, true)
	if sameDebate {
		d.add("What each side says", debateFacts(base))
	}
	base.Lesson = lessonOf(slices.Concat(executed...), base)
	addSayings(sayingsAfter[1:], base, true)
	d.chapters = append(d.chapters, propertyGlossary(namedProperties(executed, hasVariants)).chapters...)
	d.add("Source", paragraph(r.Scenario.Source))
	d.add("Left out", missingLocks(byVariant))
	return d
}

// namedProperties returns the properties that an explanation has to explain. With several
// variants these are all properties in the table that compares them, otherwise only the
// violated ones.
func namedProperties(pairs [][]scenarios.RunResult, hasVariants bool) []checks.Property {
	all := slices.Concat(pairs...)
	return slices.DeleteFunc(propertiesOf(all), func(p checks.Property) bool {
		return !hasVariants && !slices.ContainsFunc(all, func(run scenarios.RunResult) bool {
			return run.Verdict.Finding(p).Outcome == checks.Violated
		})
	})
}

// hasRun reports whether the runs were executed. If they were not, their lock is not linked
// into this program, and the explanation contains only what is known without runs.
func hasRun(runs []scenarios.RunResult) bool { return runs[0].History != nil }

// missingLocks says which locks are not linked into this program, so that their variants
// are not explained in full. It returns "" if there are none.
func missingLocks(byVariant [][]scenarios.RunResult) paragraph {
	var missing []string
	for _, runs := range byVariant {
		if lock := story.Visible(runs[0].Lock); !hasRun(runs) && !slices.Contains(missing, lock) {
			missing = append(missing, lock)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	subject := "the lock " + story.List(missing) + " is"
	if len(missing) > 1 {
		subject = "the locks " + story.List(missing) + " are"
	}
	return paragraph("What happened step by step, and what broke: " + subject + " not linked into this program. locksim-all contains all locks and shows it.")
}

// expectedFacts describes a variant whose runs were not executed: the assumption that it
// breaks, and what its scenario expects.
func expectedFacts(runs []scenarios.RunResult) []remark {
	v := runs[0].Variant
	rows := assumptionFacts(v)
	for _, run := range runs {
		if e, ok := v.Expectation(run.Lock, run.Fencing); ok {
			words := e.Verdict
			if len(e.Violated) > 0 {
				words += "; violated: " + story.List(e.Violated)
			}
			rows = append(rows, remarkOn(fencingNames[run.Fencing], words))
		}
	}
	if v.Why != "" && v.Lock == runs[0].Lock {
		rows = append(rows, remarkOn("in short", textwrap.OneLine(v.Why)))
	}
	return rows
}

// resultTitle returns the title of the chapter about the results of the runs.
func resultTitle(runs []scenarios.RunResult) string {
	if standingOfRuns(runs) == Undecided {
		return "Why the result is unknown"
	}
	if slices.ContainsFunc(runs, func(run scenarios.RunResult) bool {
		return run.Verdict.Verdict != checks.Safe || len(violated(run, checks.Properties())) > 0
	}) {
		return "What broke"
	}
	return "What held"
}

// A saying is a text of a scenario about itself, with the title of its chapter.
type saying struct {
	title string
	field func(scenarios.Narrative) string
}

// sayingsBefore come before the events in an explanation, and sayingsAfter after them.
var (
	sayingsBefore = []saying{
		{"The question", func(t scenarios.Narrative) string { return t.Question }},
	}
	sayingsAfter = []saying{
		{"What would have prevented it", func(t scenarios.Narrative) string { return t.Prevention }},
		{"The lesson", func(t scenarios.Narrative) string { return t.Lesson }},
	}
)

// storyField returns the field story of a scenario.
func storyField(t scenarios.Narrative) string { return t.Story }

// debateFacts lists the opinions of people who disagree about the lock, each with its
// author.
func debateFacts(t scenarios.Narrative) facts {
	var opinions facts
	for _, v := range t.Opinions() {
		opinions = append(opinions, remarkOn(v.Author, textwrap.OneLine(v.Text)))
	}
	return opinions
}

// timelineOf returns the timelines of the runs, with the important moments marked.
func timelineOf(runs []scenarios.RunResult, o Options) string {
	clauses, _ := clausesOf(runs, o.Messages, true)
	return timelineOfClauses(runs, clauses, o)
}

// timelineOfClauses returns the timelines of the runs. clauses has the clauses of each run.
func timelineOfClauses(runs []scenarios.RunResult, clauses [][]story.Clause, o Options) string {
	headings := make([]string, len(runs))
	for i, run := range runs {
		headings[i] = fencingNames[run.Fencing]
	}
	return Timeline{Palette: o.Palette, Messages: o.Messages, Width: o.Width}.write(headings, clauses)
}

// doubtFacts lists what did not happen although the scenario requires it: witnesses that
// were not observed, and faults that did not act.
func doubtFacts(runs []scenarios.RunResult) []remark {
	var rows []remark
	add := func(about, text string) {
		if row := remarkOn(about, text); !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	for _, run := range runs {
		for _, w := range run.Verdict.Witnesses {
			if !w.Seen {
				add("did not happen", w.Text)
			}
		}
		for i, f := range run.History.Trace.Faults {
			if f.IdleReason != "" {
				add(fmt.Sprintf("fault %d", i+1), "did not act: "+f.IdleReason)
			}
		}
	}
	return append(rows, buildNotes(runs)...)
}

// assumptionFacts says which assumption a variant breaks; nil if it breaks none.
func assumptionFacts(v *scenarios.Variant) []remark {
	if v.Assumption == "" {
		return nil
	}
	return []remark{remarkOn("assumption", v.Assumption+assumptionWords[v.Assumption])}
}

// damageFacts says which assumption broke, and what that did to the data and to the lock.
// The timeline already shows when each property was violated.
func damageFacts(runs []scenarios.RunResult) []remark {
	v := runs[0].Variant
	rows := assumptionFacts(v)
	if v.Why != "" && v.Lock == runs[0].Lock {
		rows = append(rows, remarkOn("in short", textwrap.OneLine(v.Why)))
	}
	rows = append(rows, explainData(runs, story.VerdictAndData)...)
	return append(append(rows, explainLocks(runs)...), deviations(runs)...)
}

// assumptionWords describes each assumption that a lock relies on, by the name of the
// assumption.
var assumptionWords = map[string]string{
	"process":        ": every process keeps running at normal speed; none stops, dies or takes longer than its lease",
	"network":        ": a message arrives soon or not at all",
	"clock":          ": clocks run at nearly the same speed and never jump",
	"lock memory":    ": the servers that keep the lock remember what they granted",
	"storage memory": ": the storage remembers what it has applied and which tokens it has seen",
}

// commonRows returns the rows that occur in all settings, in the order of the first
// setting.
func commonRows(settings [][]remark) []remark {
	return slices.DeleteFunc(slices.Clone(settings[0]), func(row remark) bool {
		return slices.ContainsFunc(settings, func(other []remark) bool { return !slices.Contains(other, row) })
	})
}

// exclude returns the rows that do not occur in others.
func exclude(rows, others []remark) []remark {
	return slices.DeleteFunc(slices.Clone(rows), func(row remark) bool { return slices.Contains(others, row) })
}

// rowsOf returns the rows of a setting as remarks.
func rowsOf(rows []setting.Row) []remark {
	remarks := make([]remark, len(rows))
	for i, row := range rows {
		remarks[i] = remark(row)
	}
	return remarks
}
