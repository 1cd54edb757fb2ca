package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/slide"
	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
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

// A scenarioSheet is the data of the page about one scenario.
type scenarioSheet struct {
	Name, Title, Replay string
	Source              []stretch
	Standing            badge
	// Alarm says that the standing needs attention.
	Alarm    bool
	Variants []variantSheet
	Lesson   string
	Measures []remark
	// Signs are the signs of the diagram that readers could confuse with each other.
	Signs []diagram.Sign
	// Patterns are the hatch patterns of the diagrams.
	Patterns g.Node
	// Meanings are the meanings of the marked words. The parts of the page add to them.
	Meanings map[string]string
}

// A variantSheet is the part of the page about one variant.
type variantSheet struct {
	ID, Name, Title, Story, Question string
	// Board is the storyboard; nil if the page has none.
	Board                       g.Node
	Cast, Explained, Debate     []remark
	Assumption, Why, Prevention string
	Lesson                      string
	Runs                        []runSheet
	Properties                  []propertySheet
	Verdicts                    []badge
	Witnesses                   []witnessSheet
	// explainer marks the words of this part of the page that have a meaning.
	explainer
	// Turns says which changes would turn the verdict; nil if none are known.
	Turns g.Node
	// Idle has a sentence for each fault that did not act.
	Idle []string
	// Expected says whether the runs are as the scenario expects.
	Expected    badge
	Differences []remark
}

// HasAnswer reports whether there is anything to reveal.
func (v variantSheet) HasAnswer() bool {
	return v.Assumption != "" || v.Why != "" || v.Prevention != "" || v.Lesson != "" || len(v.Debate) > 0
}

// A witnessSheet is a witness: a precondition that must have been observed for the verdict
// to mean anything. Missing names the runs in which it was not observed; "" if it was
// observed in all runs.
type witnessSheet struct{ Text, Missing string }

// A runSheet is the part of the page about one run. Steps are the entries of its timeline.
type runSheet struct {
	ID, Fencing string
	Name        story.Raw
	Verdict     badge
	Figure      g.Node
	Steps       []stepSheet
	States      stateSheet
	LeftOut     string
}

// A stateSheet has the state of each client, lock and object at each step of a run. Names
// are the rows. Changes has, for each step, the rows that differ from those of the step
// before.
type stateSheet struct {
	Names   []string        `json:"names"`
	Changes [][]stateChange `json:"changes"`
}

// A stateChange has the text that a row shows from a step on. The names of its fields are
// short because a page has many.
type stateChange struct {
	Row     int    `json:"r"`
	State   string `json:"s"`
	Holding string `json:"h,omitempty"`
}

// A stepSheet is one entry of the timeline.
type stepSheet struct {
	// At is the true time in nanoseconds. From and To are the step's horizontal positions
	// in the diagram. First and Last are the Seqs of the events that it covers.
	At          int64
	From, To    int
	First, Last int
	Time        string
	// Wait describes a long gap before the step; "" if there is none.
	Wait      string
	Who, Text story.Raw
	// Its reports whether the text is about something of the process Who, and so begins with
	// "its": "its lease ends".
	Its   bool
	Class string
	Marks []markSheet
}

// A markSheet marks a step as an important moment.
type markSheet struct {
	Class string
	Sign  story.Sign
	Text  story.Raw
}

// A propertySheet is a row of the table of properties, with a cell for each run.
type propertySheet struct {
	Name  story.Raw
	Cells []cellSheet
}

// A cellSheet is the outcome of a property in one run. To is the address of the moment of
// the violation, and Step the number of the step at that moment.
type cellSheet struct {
	badge
	To, Label string
	Run       string
	Step      int
}

// scenarioPage returns the page about a result. The page is self-contained, except for
// links to other pages of its site.
func scenarioPage(r *scenarios.Result, o Options, links []webpage.Link) webpage.Page {
	s := scenarioSheet{
		Name: story.Visible(r.Scenario.Name), Title: story.Visible(textwrap.OneLine(r.Scenario.Title)) + withChanges(r.Scenario, r.Runs), Source: splitLinks(r.Scenario.Source),
		Replay: replay(r, o), Standing: standingBadges[StandingOf(r)], Signs: diagram.Signs(), Patterns: diagram.Patterns(), Meanings: map[string]string{},
	}
	pairs := groupByVariant(r)
	room := diagram.RoomFor(diagramRuns(r.Runs))
	lesson := story.Visible(textwrap.OneLine(lessonOf(r.Runs, r.Scenario.Narrative)))
	sharesLesson := true // whether all variants have the same lesson as the scenario
	for i, runs := range pairs {
		v := variantPage(runs, room)
		v.explainer = explainer{s.Meanings, map[string]bool{}}
		if o.Style != storyboard.FullStyle {
			v.Board = slide.SVG(storyboardOf(r, runs))
		}
		if pieces := turns(r, runs, o); len(pieces) > 0 {
			v.Turns = chapter{pieces: pieces}.html()
		}
		if i > 0 && runs[0].Variant.Story == pairs[i-1][0].Variant.Story {
			v.Story = ""
		}
		sharesLesson = sharesLesson && v.Lesson == lesson
		s.Variants = append(s.Variants, v)
	}
	if sharesLesson {
		s.Lesson = lesson
		for i := range s.Variants {
			s.Variants[i].Lesson = ""
		}
	}
	s.Alarm = slices.Contains(alarms, StandingOf(r))
	s.Measures = measureFacts(pairs)
	page := webpage.New(s.Name+": "+s.Title, g.Raw(string(fill("scenario.html", s))), diagram.Style(), slide.Style(), asset("scenario.css"))
	page.Links = links
	page.Script = asset("scenario.js")
	return page
}

// variantPage returns the part of a page about the runs of one variant.
func variantPage(runs []scenarios.RunResult, room diagram.Room) variantSheet {
	v := runs[0].Variant
	text := func(s string) string { return story.Visible(textwrap.OneLine(s)) }
	out := variantSheet{
		ID: variantAnchor(v), Name: story.Visible(v.Name), Title: text(v.Title), Story: text(storyOf(runs, v.Narrative)), Question: text(v.Question),
		Prevention: text(preventionOf(runs, v.Narrative)), Lesson: text(lessonOf(runs, v.Narrative)),
		Cast: describeSetup(runs[0]), Explained: explainRuns(runs), Debate: debateFacts(v.Narrative),
	}
	if v.Assumption != "" {
		out.Assumption = story.Visible(v.Assumption) + assumptionWords[v.Assumption]
	}
	if v.Lock == runs[0].Lock {
		out.Why = text(v.Why)
	}
	figures := diagram.Draw(diagramRuns(runs), room)
	for i, run := range runs {
		out.Runs = append(out.Runs, runPage(run, figures[i]))
		out.Verdicts = append(out.Verdicts, runBadge(run))
	}
	for _, p := range propertiesOf(runs) {
		row := propertySheet{Name: story.Raw(p)}
		for i, run := range runs {
			row.Cells = append(row.Cells, outcomeOnPage(run, p, figures[i].Steps))
		}
		out.Properties = append(out.Properties, row)
	}
	for i, w := range runs[0].Verdict.Witnesses {
		out.Witnesses = append(out.Witnesses, witnessSheet{story.Visible(w.Text), missedIn(runs, i)})
	}
	for i, f := range runs[0].History.Trace.Faults {
		if f.IdleReason != "" {
			out.Idle = append(out.Idle, fmt.Sprintf("fault %d did not act: %s", i+1, story.Visible(f.IdleReason)))
		}
	}
	out.Expected, out.Differences = standingBadges[standingOfRuns(runs)], complaintsOf(runs)
	return out
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

// runPage returns the part of a page about one run.
func runPage(run scenarios.RunResult, f diagram.Figure) runSheet {
	out := runSheet{
		ID: f.ID, Fencing: run.Fencing, Name: story.Raw(f.Title),
		Verdict: runBadge(run), Figure: f.SVG(), LeftOut: f.LeftOut,
	}
	last := time.Duration(0)
	for _, e := range f.Steps {
		s := stepSheet{
			At: int64(e.At), To: f.X(e.At), First: e.First, Last: e.Last,
			Time: story.Moment(e.At, 3), Who: e.Subject, Text: e.Predicate, Its: e.IsAboutPossession, Class: e.Mood.Class(),
		}
		s.From = s.To
		if ev := run.History.Event(e.First); ev != nil {
			s.From = min(s.To, f.X(ev.At))
		}
		s.Wait = e.Wait(last)
		last = e.End()
		for _, m := range e.Marks {
			s.Marks = append(s.Marks, markSheet{m.Mood.Class(), m.Sign, m.Text})
		}
		out.Steps = append(out.Steps, s)
	}
	out.States = statesOf(run, f)
	return out
}

// statesOf returns the state of each client, lock and object at each step of a figure.
func statesOf(run scenarios.RunResult, f diagram.Figure) stateSheet {
	var clients []string
	for _, p := range run.History.Trace.Processes {
		if p.Role == trace.RoleClient && f.HasLane(p.Name) {
			clients = append(clients, p.Name)
		}
	}
	camera := snapshot.NewCamera(run.History, clients)
	out := stateSheet{Names: []string{}, Changes: [][]stateChange{}}
	var before []snapshot.Row
	for i, e := range f.Steps {
		rows := camera.At(history.Moment{At: e.At, Seq: e.Last})
		changes := []stateChange{}
		for n, row := range rows {
			if i == 0 {
				out.Names = append(out.Names, row.Who.String())
			}
			if i == 0 || row != before[n] {
				changes = append(changes, stateChange{n, row.State.String(), row.Holding.String()})
			}
		}
		out.Changes = append(out.Changes, changes)
		before = rows
	}
	return out
}

// outcomeOnPage returns the outcome of a property in a run, with a link to the moment of
// the violation.
func outcomeOnPage(run scenarios.RunResult, p checks.Property, steps []story.Clause) cellSheet {
	f := run.Verdict.Finding(p)
	c := cellSheet{badge: outcomeBadges[f.Outcome], Run: run.Fencing}
	if f.Outcome == checks.Violated {
		if run.History.Event(f.At) != nil {
			c.To = diagram.BrokenAnchor(runAnchor(run.Variant, run.Fencing), p)
			c.Step = stepAt(steps, f.At)
			c.Label = fmt.Sprintf("%s, %s: violated; show the moment", p, fencingNames[run.Fencing])
		}
	}
	return c
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
