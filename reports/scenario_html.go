package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/slide"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/svg"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// writeHTML writes a page for each result.
func writeHTML(w io.Writer, results []*scenarios.Result, o Options) error {
	for _, r := range results {
		if _, err := w.Write(scenarioPage(r, o.forPublication(), nil).HTML()); err != nil {
			return err
		}
	}
	return nil
}

// scenarioPage returns the page about a result. The page is self-contained, except for
// links to other pages of its site.
func scenarioPage(r *scenarios.Result, o Options, links []webpage.Link) webpage.Page {
	title := visibleLine(r.Scenario.Title) + withChanges(r.Scenario, r.Runs)
	standing := StandingOf(r)
	lesson := sharedLesson(r)
	meanings := map[string]string{}
	pairs, measures := groupByVariant(r), &document{}
	measures.add("Measures", facts(measureFacts(pairs)))
	room := diagram.RoomFor(diagramRuns(r.Runs))
	variants := make([]variantSheet, len(pairs))
	for i, runs := range pairs {
		variants[i] = variantSheet{
			result: r, options: o, runs: runs, figures: diagram.Draw(diagramRuns(runs), room), isOnly: len(pairs) == 1,
			repeatsStory: i > 0 && runs[0].Variant.Story == pairs[i-1][0].Variant.Story,
			hasLesson:    lesson == "", explainer: explainer{meanings, map[string]bool{}},
		}
	}
	sections := g.Map(variants, variantSheet.html) // they add to the meanings
	page := webpage.New(story.Visible(r.Scenario.Name)+": "+title, onLines(
		h.H1(g.Text(title)),
		g.If(slices.Contains(alarms, standing), h.P(standingBadges[standing].html())),
		g.If(len(variants) > 1, h.Nav(h.Class("variants"), h.Aria("label", "Variants"), g.Map(variants, variantSheet.link))),
		diagram.Patterns(),
		onLines(sections...),
		g.If(lesson != "", h.Details(h.Class("answer lesson"), h.Summary(g.Text("Reveal the lesson")), h.P(g.Text(lesson)))),
		measures.html(),
		diagramKey(),
		h.P(h.Class("soft under"), h.Code(g.Text(story.Visible(r.Scenario.Name))), g.Text(": "), standingBadges[standing].html(),
			g.If(r.Scenario.Source != "", g.Group{g.Text(" Source: "), linkAddresses(r.Scenario.Source)})),
		h.P(h.Class("soft"), g.Text("Replay: "), h.Code(g.Text(replay(r, o)))),
		jsonScript(meanings, h.Class("meanings")),
		player(),
	), diagram.Style(), slide.Style(), asset("scenario.css"))
	page.Links = links
	page.Script = asset("scenario.js")
	return page
}

// sharedLesson returns the lesson of the scenario, if it is also the lesson of each variant;
// otherwise "".
func sharedLesson(r *scenarios.Result) string {
	lesson := visibleLine(lessonOf(r.Runs, r.Scenario.Narrative))
	for _, runs := range groupByVariant(r) {
		if visibleLine(lessonOf(runs, runs[0].Variant.Narrative)) != lesson {
			return ""
		}
	}
	return lesson
}

// A variantSheet is the part of the page about the runs of one variant.
type variantSheet struct {
	result  *scenarios.Result
	options Options
	runs    []scenarios.RunResult
	// figures are the diagrams of the runs.
	figures []diagram.Figure
	// isOnly means that the page has no other variants, repeatsStory that the story is that of the
	// variant before, and hasLesson that the lesson is not the same for all variants.
	isOnly, repeatsStory, hasLesson bool
	// explainer marks the words of this part of the page that have a meaning. It marks each word
	// once, so the functions that write words are called in the order of the page.
	explainer
}

// variant returns the variant of the runs.
func (v variantSheet) variant() *scenarios.Variant { return v.runs[0].Variant }

// name returns the name of the variant; "" if it has none.
func (v variantSheet) name() string { return story.Visible(v.variant().Name) }

// nameAfter returns the name of the variant after a word, to complete a label for screen readers:
// " of " and the name. It returns "" if the variant has no name.
func (v variantSheet) nameAfter(word string) string {
	if v.name() == "" {
		return ""
	}
	return word + v.name()
}

// link returns the link to the variant, with the verdicts of its runs.
func (v variantSheet) link() g.Node {
	signs := ""
	for _, run := range v.runs {
		signs += runBadge(run).Sign
	}
	return h.A(h.Href("#"+variantAnchor(v.variant())), g.Text(v.name()+" "), hidden(signs))
}

// html returns the part of the page.
func (v variantSheet) html() g.Node {
	label, title := "the story", "The verdict"
	if v.name() != "" {
		label, title = "variant "+v.name(), v.name()+": "+visibleLine(v.variant().Title)
	}
	question, telling := visibleLine(v.variant().Question), visibleLine(storyOf(v.runs, v.variant().Narrative))
	return h.Section(h.Class("variant"), h.ID(variantAnchor(v.variant())), h.Aria("label", label), onLines(
		h.H2(g.Text(title)),
		v.endings(),
		g.If(question != "", h.P(h.Class("think"), h.B(g.Text("Think first.")), g.Text(" "+question))),
		facts(explainRuns(v.runs)).html(),
		v.board(),
		g.If(telling != "" && !v.repeatsStory, h.P(h.Class("telling"), g.Text(telling))),
		h.Dl(h.Class("facts"), g.Map(describeSetup(v.runs[0]), func(r remark) g.Node {
			return g.Group{h.Dt(v.words(r.About)), h.Dd(v.words(r.Text))}
		})),
		v.answer(),
		h.H3(g.Text("Step by step")),
		h.Div(h.Class("stage"), onLines(v.eachRun(v.diagram)...)),
		h.Div(h.Class("beside"), onLines(v.eachRun(v.steps)...)),
		v.verdict(),
		v.turns(),
	))
}

// eachRun returns the parts of the page that write makes of each run and its diagram.
func (v variantSheet) eachRun(write func(scenarios.RunResult, diagram.Figure) g.Node) g.Group {
	var parts g.Group
	for i, run := range v.runs {
		parts = append(parts, write(run, v.figures[i]))
	}
	return parts
}

// endings returns the verdicts of the runs.
func (v variantSheet) endings() g.Node {
	return h.P(h.Class("endings"), v.eachRun(func(run scenarios.RunResult, f diagram.Figure) g.Node {
		b := runBadge(run)
		return g.Group{h.Span(v.words(story.Raw(f.Title)), g.Text(" "), h.Strong(h.Class("badge "+b.Class), g.Text(b.Text()))), g.Text(" ")}
	}))
}

// board returns the storyboard; nil if the page has none.
func (v variantSheet) board() g.Node {
	if v.options.Style == storyboard.FullStyle {
		return nil
	}
	return h.Figure(h.Class("board"), onLines(
		scrollable("scroller", "Storyboard"+v.nameAfter(" of "), slide.SVG(storyboardOf(v.result, v.runs))),
		h.FigCaption(h.A(h.Href("#"+v.figures[0].ID), g.Text("Everything that happened: the full diagram, step by step"))),
	))
}

// answer returns what the reader can reveal after the question; nil if there is nothing.
func (v variantSheet) answer() g.Node {
	variant := v.variant()
	var all facts
	add := func(about, text string) {
		if text = visibleLine(text); text != "" {
			all = append(all, remarkOn(about, text))
		}
	}
	if variant.Assumption != "" {
		add("assumption", variant.Assumption+assumptionWords[variant.Assumption])
	}
	if variant.Lock == v.runs[0].Lock {
		add("in short", variant.Why)
	}
	add("what would have prevented it", preventionOf(v.runs, variant.Narrative))
	all = append(all, debateFacts(variant.Narrative)...)
	if v.hasLesson {
		add("lesson", lessonOf(v.runs, variant.Narrative))
	}
	return g.If(!all.empty(), h.Details(h.Class("answer"), onLines(h.Summary(g.Text("Reveal the answer")), all.html())))
}

// verdict returns the outcomes of all properties and witnesses.
func (v variantSheet) verdict() g.Node {
	names := v.eachRun(func(_ scenarios.RunResult, f diagram.Figure) g.Node { return columnHead(g.Text(f.Title)) })
	rows := g.Map(propertiesOf(v.runs), func(p checks.Property) g.Node {
		return h.Tr(rowHead(v.words(story.Raw(p))), v.eachRun(func(run scenarios.RunResult, f diagram.Figure) g.Node {
			return h.Td(outcomeOnPage(run, p, f.Steps))
		}))
	})
	verdicts := v.eachRun(func(run scenarios.RunResult, _ diagram.Figure) g.Node { return h.Td(runBadge(run).html()) })
	return h.Div(h.Class("verdict"), onLines(
		h.H3(g.Text("What broke")),
		scrollable("scroll", "Properties"+v.nameAfter(" of "), h.Table(onLines(
			h.THead(h.Tr(columnHead(g.Text("property")), names)),
			h.TBody(onLines(rows...)),
			h.TFoot(h.Tr(rowHead(g.Text("verdict")), verdicts)),
		))),
		v.observations(),
		g.If(!v.isOnly, h.P(standingBadges[standingOfRuns(v.runs)].html())),
		htmlOf(facts(complaintsOf(v.runs))),
	))
}

// observations returns the list of the witnesses, and of the faults that did not act; nil if it
// is empty. A witness is a precondition that must have been observed for the verdict to mean
// anything.
func (v variantSheet) observations() g.Node {
	var items g.Group
	for i, w := range v.runs[0].Verdict.Witnesses {
		mark := h.Span(h.Class("good"), g.Text("✓ happened:"))
		if missed := missedIn(v.runs, i); missed != "" {
			mark = h.Span(h.Class("bad"), g.Text("✗ did NOT happen "+missed+":"))
		}
		items = append(items, h.Li(mark, g.Text(" "+story.Visible(w.Text))))
	}
	for i, f := range v.runs[0].History.Trace.Faults {
		if f.IdleReason != "" {
			text := fmt.Sprintf("! fault %d did not act: %s", i+1, story.Visible(f.IdleReason))
			items = append(items, h.Li(h.Span(h.Class("doubt"), g.Text(text))))
		}
	}
	return g.If(len(items) > 0, h.Ul(h.Class("plain"), items))
}

// missedIn says in which runs a witness was not observed: "in any run", or the names of the
// runs; "" if it was observed in all.
func missedIn(runs []scenarios.RunResult, witness int) string {
	var missed []string
	for _, run := range runs {
		if !run.Verdict.Witnesses[witness].Seen {
			missed = append(missed, fencingNames[run.Fencing])
		}
	}
	if len(missed) == len(runs) {
		return "in any run"
	}
	return story.List(missed)
}

// turns says which changes would turn the verdict; nil if none are known.
func (v variantSheet) turns() g.Node {
	pieces := turns(v.result, v.runs, v.options)
	return g.If(len(pieces) > 0, onLines(
		h.H3(g.Text("What would turn it")),
		scrollable("scroll", "What would turn it"+v.nameAfter(", "), htmlOf(pieces...)),
	))
}

// outcomeOnPage returns the outcome of a property in a run, with a link to the moment of
// the violation.
func outcomeOnPage(run scenarios.RunResult, p checks.Property, steps []story.Clause) g.Node {
	f := run.Verdict.Finding(p)
	b := outcomeBadges[f.Outcome]
	if f.Outcome != checks.Violated || run.History.Event(f.At) == nil {
		return b.html()
	}
	return h.A(h.Class("badge "+b.Class), h.Href("#"+diagram.BrokenAnchor(runAnchor(run.Variant, run.Fencing), p)),
		h.Data("run", run.Fencing), svg.Number("data-step", stepAt(steps, f.At)),
		h.Aria("label", fmt.Sprintf("%s, %s: violated; show the moment", p, fencingNames[run.Fencing])), g.Text(b.Text()))
}

// stepAt returns the index of the step that covers an event, or of the last step before the
// event.
func stepAt(steps []story.Clause, seq int) int {
	index := 0
	for i, e := range steps {
		if e.First <= seq {
			index = i
		}
		if e.First <= seq && seq <= e.Last {
			return i
		}
	}
	return index
}

// variantAnchor returns the HTML ID of a variant on the page of its scenario.
func variantAnchor(v *scenarios.Variant) string {
	if v.Name == "" {
		return "story"
	}
	return "v-" + anchor(v.Name)
}

// runAnchor returns the HTML ID of a run's diagram on the page of its scenario. It contains
// a dot, so it differs from the IDs of all variants.
func runAnchor(v *scenarios.Variant, fencing string) string {
	if v.Name == "" {
		return anchor(fencing)
	}
	return variantAnchor(v) + "." + anchor(fencing)
}

// anchor encodes a name for an HTML ID and for a link to it. Different names stay
// different.
func anchor(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}
