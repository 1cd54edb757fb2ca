package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// mermaidRoom is the maximum number of characters in a diagram. Mermaid, and the sites that
// use it, refuse diagrams of more than 50,000.
const mermaidRoom = 48_000

// Sequence draws a run in the language of Mermaid, in as much detail as the timeline. A
// request is one arrow and its answer another, however many messages they took. If the
// timeline is longer than Mermaid can draw, the diagram contains its beginning and the
// later violations, and says so. title names the run, and description describes it in a
// line.
func Sequence(run story.Run, title, description string) string {
	violations := slices.DeleteFunc(run.Marks(), func(m story.Mark) bool { return m.Sign != story.Broken })
	clauses := story.Marked(story.Clauses(run.History, false), violations)
	for limit := len(clauses); ; {
		text := newSequence(run).draw(title, description, clauses, limit)
		if len(text) <= mermaidRoom || limit == 0 {
			return text
		}
		limit = min(limit*mermaidRoom/len(text), limit-1)
	}
}

// A sequence is a sequence diagram that is being written.
type sequence struct {
	run   story.Run
	lanes *lanes
	lines []sequenceLine

	// boundaries are the beginnings and ends of the critical sections that have not been
	// drawn yet, in order.
	boundaries []boundary
	// hidden are the sections that begin in a part that is left out. openSections are the
	// other sections that have begun and not ended. frameIsOpen reports whether the frame
	// around overlapping sections is open.
	hidden       map[*history.Section]bool
	openSections []*history.Section
	frameIsOpen  bool
}

// A sequenceLine is one statement of a diagram. If overAll is set, text is the text of a
// note over all lifelines. Such a statement is completed at the end, when it is known which
// lifelines are drawn.
type sequenceLine struct {
	text    string
	overAll bool
}

// A boundary is the beginning or the end of a section.
type boundary struct {
	at      time.Duration
	section *history.Section
	begins  bool
}

// newSequence returns an empty diagram of a run.
func newSequence(run story.Run) *sequence {
	s := &sequence{run: run, lanes: newLanes(run.History), hidden: map[*history.Section]bool{}}
	for _, section := range run.History.Sections() {
		s.boundaries = append(s.boundaries, boundary{section.From.At, section, true}, boundary{section.To.At, section, false})
	}
	slices.SortStableFunc(s.boundaries, func(a, b boundary) int { return cmp.Compare(a.at, b.at) })
	return s
}

// draw returns the diagram with the first limit clauses, and all violations.
func (s *sequence) draw(title, description string, clauses []story.Clause, limit int) string {
	lastEnd, omitted := time.Duration(0), 0
	for i, e := range clauses {
		if i >= limit && e.Sign != story.Broken {
			omitted++
			s.drawBoundaries(func(t boundary) bool { return t.at <= e.At }, false)
			continue
		}
		s.drawBoundaries(func(t boundary) bool { return t.at < e.At || !t.begins && t.at == e.At }, true)
		if gap := e.Wait(lastEnd); gap != "" {
			s.addWideNote("⋮ " + gap)
		}
		lastEnd = e.End()
		s.addClause(e)
		for _, m := range e.Marks {
			s.addNote(s.lanesFor(e), fmt.Sprintf("%s %s", m.Sign, string(m.Text)))
		}
		s.drawBoundaries(func(t boundary) bool { return t.at == e.At }, true)
	}
	s.drawBoundaries(func(boundary) bool { return true }, false)
	if omitted > 0 {
		s.addWideNote(fmt.Sprintf("%s left out, because Mermaid cannot draw more", story.Count(omitted, "moment")))
	}
	verdict := string(story.VerdictAndData(s.run.History, s.run.Verdict))
	s.addWideNote(verdict)

	allLanes := s.lanes.outerNames()
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	fmt.Fprintf(&b, "  title %s\n", mermaidLine(title, mermaidWide))
	fmt.Fprintf(&b, "  accTitle: %s\n", mermaidLine(title+": "+description, mermaidText))
	fmt.Fprintf(&b, "  accDescr: %s\n", mermaidLine(verdict, mermaidText))
	b.WriteString(s.lanes.declarations())
	for _, line := range s.lines {
		if line.overAll {
			line.text = fmt.Sprintf("Note over %s: %s", allLanes, line.text)
		}
		fmt.Fprintf(&b, "  %s\n", line.text)
	}
	return b.String()
}

// addLine adds a statement.
func (s *sequence) addLine(format string, args ...any) {
	s.lines = append(s.lines, sequenceLine{text: fmt.Sprintf(format, args...)})
}

// addNote adds a note over some lifelines, or over all of them if there are none.
func (s *sequence) addNote(lanes []int, text string) {
	if lanes == nil {
		s.addWideNote(text)
		return
	}
	first, last, columns := slices.Min(lanes), slices.Max(lanes), mermaidColumns
	if first != last {
		columns = mermaidBetween
	}
	s.addLine("Note over %s: %s", s.lanes.spanNames(first, last), mermaidLines(text, mermaidText, columns))
}

// addWideNote adds a note over all lifelines.
func (s *sequence) addWideNote(text string) {
	s.lines = append(s.lines, sequenceLine{mermaidLines(text, mermaidText, mermaidWide), true})
}

// The arrows of Mermaid for a request, an answer, and a refusal.
const (
	requestArrow = "->>"
	answerArrow  = "-->>"
	refusalArrow = "--x"
)

// addArrow adds an arrow from one lane to another.
func (s *sequence) addArrow(from int, arrow string, to int, text string) {
	s.addLine("%s%s%s: %s", s.lanes.name(from), arrow, s.lanes.name(to), mermaidLines(text, mermaidText, mermaidColumns))
}

// addClause draws a clause of the timeline: the step of a client as arrows, and anything
// else as a note.
func (s *sequence) addClause(e story.Clause) {
	ev := s.run.History.Event(e.Last)
	if ev == nil || e.OfStep == (story.Step{}) {
		s.addNote(s.lanesFor(e), s.timedText(e))
		return
	}
	client, servers := s.lanes.lanesOf(ev.Process), s.lanes.servers(ev)
	if ev.Kind == trace.KindServe {
		client = s.lanes.lanesOf(ev.Client())
	}
	if len(client) == 0 || len(servers) == 0 {
		s.addNote(s.lanesFor(e), s.timedText(e))
		return
	}
	if e.BeginPredicate != "" {
		begin := s.run.History.Event(e.First)
		for _, server := range servers {
			s.addArrow(client[0], requestArrow, server, story.Moment(begin.At, 3)+" "+string(e.BeginPredicate))
		}
	}
	server := servers[len(servers)-1]
	switch {
	case e.Part == story.StepBegins:
		for _, server := range servers {
			s.addArrow(client[0], requestArrow, server, s.timedText(e))
		}
	case ev.Kind != trace.KindEnd, !ev.OK && !ev.Refused && ev.Step.AtStorage():
		s.addNote(s.lanesFor(e), s.timedText(e)) // the answer was lost, or no client waits for it
	case ev.OK:
		s.addArrow(server, answerArrow, client[0], s.timedText(e))
	default:
		s.addArrow(server, refusalArrow, client[0], s.timedText(e))
	}
}

// timedText returns the time and the text of a clause. The subject's name is between them,
// unless the clause's place in the diagram shows the subject.
func (s *sequence) timedText(e story.Clause) string {
	text, subject := story.Moment(e.At, 3), string(e.Subject)
	switch {
	case subject == "":
	case len(s.lanes.lanesOf(subject)) == 0:
		text += " " + subject
	case s.lanes.isShared(subject):
		text += " " + subject + ":"
	}
	return text + " " + string(e.Predicate)
}

// lanesFor returns the lanes over which a note about a clause is drawn; nil means over all
// lanes.
func (s *sequence) lanesFor(e story.Clause) []int {
	if own := s.lanes.lanesOf(string(e.Subject)); len(own) > 0 {
		return own
	}
	ev := s.run.History.Event(e.Last)
	if ev == nil || e.Part == story.FaultStrikes || e.IsRepetition {
		return nil
	}
	return append(s.lanes.lanesOf(ev.Process), s.lanes.lanesOf(ev.Peer)...)
}

// drawBoundaries draws the next beginnings and ends of sections as long as isDue returns
// true. In a part of the run that is left out (isShown is false) it draws no beginnings.
func (s *sequence) drawBoundaries(isDue func(boundary) bool, isShown bool) {
	for len(s.boundaries) > 0 && isDue(s.boundaries[0]) {
		t := s.boundaries[0]
		s.boundaries = s.boundaries[1:]
		lane := s.lanes.lanesOf(t.section.Client)
		if t.begins && (!isShown || len(lane) == 0) {
			s.hidden[t.section] = true
		}
		switch {
		case s.hidden[t.section]:
		case t.begins:
			s.openSections = append(s.openSections, t.section)
			s.addLine("activate %s", s.lanes.name(lane[0]))
			s.updateFrame(t)
		default:
			s.openSections = slices.DeleteFunc(s.openSections, func(o *history.Section) bool { return o == t.section })
			s.updateFrame(t)
			s.addLine("deactivate %s", s.lanes.name(lane[0]))
		}
	}
}

// updateFrame opens a frame when two sections of one lock overlap, and closes it when no
// sections overlap any more. When a section begins that overlaps others, it adds a note
// with the names of the clients.
func (s *sequence) updateFrame(t boundary) {
	overlaps := func(a, b *history.Section) bool { return a != b && a.Lock == b.Lock && !a.GrantsEveryone }
	hasOverlap := slices.ContainsFunc(s.openSections, func(a *history.Section) bool {
		return slices.ContainsFunc(s.openSections, func(b *history.Section) bool { return overlaps(a, b) })
	})
	if hasOverlap && !s.frameIsOpen {
		s.addLine("rect rgba(213, 94, 0, 0.15)")
	}
	if !hasOverlap && s.frameIsOpen {
		s.addLine("end")
	}
	s.frameIsOpen = hasOverlap
	var clients []string
	var clientLanes []int
	for _, o := range s.openSections {
		if o == t.section || overlaps(o, t.section) {
			clients = append(clients, story.Visible(o.Client))
			clientLanes = append(clientLanes, s.lanes.lanesOf(o.Client)...)
		}
	}
	if t.begins && len(clients) > 1 {
		s.addNote(clientLanes, story.List(clients)+" are in their critical sections at the same time")
	}
}
