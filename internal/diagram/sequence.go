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
func Sequence(run Run, title, about string) string {
	broke := slices.DeleteFunc(run.marks(), func(m story.Mark) bool { return m.Sign != story.Broken })
	told := story.Marked(story.Clauses(run.History, false), broke)
	for most := len(told); ; {
		text := newSequence(run).draw(title, about, told, most)
		if len(text) <= mermaidRoom || most == 0 {
			return text
		}
		most = min(most*mermaidRoom/len(text), most-1)
	}
}

// A sequence is a sequence diagram that is being written.
type sequence struct {
	run   Run
	lanes *lanes
	lines []sequenceLine

	// boundaries are the beginnings and ends of the critical sections that have not been
	// drawn yet, in order.
	turns []turn
	// hidden are the sections that begin in a part that is left out. openSections are the
	// other sections that have begun and not ended. frameIsOpen reports whether the frame
	// around overlapping sections is open.
	hidden      map[*history.Section]bool
	inside      []*history.Section
	frameIsOpen bool
}

// A sequenceLine is one statement of a diagram. If overAll is set, text is the text of a
// note over all lifelines. Such a statement is completed at the end, when it is known which
// lifelines are drawn.
type sequenceLine struct {
	text string
	wide bool
}

// A boundary is the beginning or the end of a section.
type turn struct {
	at      time.Duration
	section *history.Section
	begins  bool
}

// newSequence returns an empty diagram of a run.
func newSequence(run Run) *sequence {
	s := &sequence{run: run, lanes: newLanes(run.History), hidden: map[*history.Section]bool{}}
	for _, section := range run.History.Sections() {
		s.turns = append(s.turns, turn{section.From.At, section, true}, turn{section.To.At, section, false})
	}
	slices.SortStableFunc(s.turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return s
}

// draw returns the diagram with the first limit clauses, and all violations.
func (s *sequence) draw(title, about string, clauses []story.Clause, most int) string {
	last, left := time.Duration(0), 0
	for i, e := range clauses {
		if i >= most && e.Sign != story.Broken {
			left++
			s.drawTurns(func(t turn) bool { return t.at <= e.At }, false)
			continue
		}
		s.drawTurns(func(t turn) bool { return t.at < e.At || !t.begins && t.at == e.At }, true)
		if gap := e.Wait(last); gap != "" {
			s.wide("⋮ " + gap)
		}
		last = e.End()
		s.addClause(e)
		for _, m := range e.Marks {
			s.note(s.lanesFor(e), fmt.Sprintf("%s %s", m.Sign, string(m.Text)))
		}
		s.drawTurns(func(t turn) bool { return t.at == e.At }, true)
	}
	s.drawTurns(func(turn) bool { return true }, false)
	if left > 0 {
		s.wide(fmt.Sprintf("%s left out, because Mermaid cannot draw more", story.Count(left, "moment")))
	}
	cameTo := string(story.VerdictAndData(s.run.History, s.run.Verdict))
	s.wide(cameTo)

	all := s.lanes.all()
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	fmt.Fprintf(&b, "  title %s\n", mermaidLine(title, mermaidWide))
	fmt.Fprintf(&b, "  accTitle: %s\n", mermaidLine(title+": "+about, mermaidText))
	fmt.Fprintf(&b, "  accDescr: %s\n", mermaidLine(cameTo, mermaidText))
	b.WriteString(s.lanes.declared())
	for _, line := range s.lines {
		if line.wide {
			line.text = fmt.Sprintf("Note over %s: %s", all, line.text)
		}
		fmt.Fprintf(&b, "  %s\n", line.text)
	}
	return b.String()
}

// addLine adds a statement.
func (s *sequence) line(format string, args ...any) {
	s.lines = append(s.lines, sequenceLine{text: fmt.Sprintf(format, args...)})
}

// addNote adds a note over some lifelines, or over all of them if there are none.
func (s *sequence) note(over []int, text string) {
	if over == nil {
		s.wide(text)
		return
	}
	first, last, columns := slices.Min(over), slices.Max(over), mermaidColumns
	if first != last {
		columns = mermaidBetween
	}
	s.line("Note over %s: %s", s.lanes.names(first, last), mermaidLines(text, mermaidText, columns))
}

// addWideNote adds a note over all lifelines.
func (s *sequence) wide(text string) {
	s.lines = append(s.lines, sequenceLine{mermaidLines(text, mermaidText, mermaidWide), true})
}

// The arrows of Mermaid for a request, an answer, and a refusal.
const (
	requestArrow = "->>"
	answerArrow  = "-->>"
	refusalArrow = "--x"
)

// addArrow adds an arrow from one lane to another.
func (s *sequence) arrow(from int, arrow string, to int, text string) {
	s.line("%s%s%s: %s", s.lanes.name(from), arrow, s.lanes.name(to), mermaidLines(text, mermaidText, mermaidColumns))
}

// addClause draws a clause of the timeline: the step of a client as arrows, and anything
// else as a note.
func (s *sequence) addClause(e story.Clause) {
	ev := s.run.History.Event(e.Last)
	if ev == nil || e.Of == (story.Step{}) {
		s.note(s.lanesFor(e), s.timedText(e))
		return
	}
	client, servers := s.lanes.lanesOf(ev.Process), s.lanes.servers(ev)
	if ev.Kind == trace.KindServe {
		client = s.lanes.lanesOf(ev.Client())
	}
	if len(client) == 0 || len(servers) == 0 {
		s.note(s.lanesFor(e), s.timedText(e))
		return
	}
	if e.Asked != "" {
		begin := s.run.History.Event(e.First)
		for _, server := range servers {
			s.arrow(client[0], requestArrow, server, story.Moment(begin.At, 3)+" "+string(e.Asked))
		}
	}
	server := servers[len(servers)-1]
	switch {
	case e.Part == story.StepBegins:
		for _, server := range servers {
			s.arrow(client[0], requestArrow, server, s.timedText(e))
		}
	case ev.Kind != trace.KindEnd, !ev.OK && !ev.Refused && ev.Step.AtStorage():
		s.note(s.lanesFor(e), s.timedText(e)) // the answer was lost, or no client waits for it
	case ev.OK:
		s.arrow(server, answerArrow, client[0], s.timedText(e))
	default:
		s.arrow(server, refusalArrow, client[0], s.timedText(e))
	}
}

// timedText returns the time and the text of a clause. The subject's name is between them,
// unless the clause's place in the diagram shows the subject.
func (s *sequence) timedText(e story.Clause) string {
	text, who := story.Moment(e.At, 3), string(e.Subject)
	switch {
	case who == "":
	case len(s.lanes.lanesOf(who)) == 0:
		text += " " + who
	case s.lanes.shared(who):
		text += " " + who + ":"
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
// true. In a part of the run that is left out (shown is false) it draws no beginnings.
func (s *sequence) drawTurns(next func(turn) bool, shown bool) {
	for len(s.turns) > 0 && next(s.turns[0]) {
		t := s.turns[0]
		s.turns = s.turns[1:]
		lane := s.lanes.lanesOf(t.section.Client)
		if t.begins && (!shown || len(lane) == 0) {
			s.hidden[t.section] = true
		}
		switch {
		case s.hidden[t.section]:
		case t.begins:
			s.inside = append(s.inside, t.section)
			s.line("activate %s", s.lanes.name(lane[0]))
			s.frame(t)
		default:
			s.inside = slices.DeleteFunc(s.inside, func(o *history.Section) bool { return o == t.section })
			s.frame(t)
			s.line("deactivate %s", s.lanes.name(lane[0]))
		}
	}
}

// updateFrame opens a frame when two sections of one lock overlap, and closes it when no
// sections overlap any more. When a section begins that overlaps others, it adds a note
// with the names of the clients.
func (s *sequence) frame(t turn) {
	overlaps := func(a, b *history.Section) bool { return a != b && a.Lock == b.Lock && !a.GrantsEveryone }
	overlap := slices.ContainsFunc(s.inside, func(a *history.Section) bool {
		return slices.ContainsFunc(s.inside, func(b *history.Section) bool { return overlaps(a, b) })
	})
	if overlap && !s.frameIsOpen {
		s.line("rect rgba(213, 94, 0, 0.15)")
	}
	if !overlap && s.frameIsOpen {
		s.line("end")
	}
	s.frameIsOpen = overlap
	var who []string
	var over []int
	for _, o := range s.inside {
		if o == t.section || overlaps(o, t.section) {
			who = append(who, story.Visible(o.Client))
			over = append(over, s.lanes.lanesOf(o.Client)...)
		}
	}
	if t.begins && len(who) > 1 {
		s.note(over, story.List(who)+" are in their critical sections at the same time")
	}
}
