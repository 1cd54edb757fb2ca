package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

const (
	// pageWidth is the maximum number of columns in a line of a text report, unless
	// [Options] has another. A file always has lines of this width, so the same run gives the
	// same text.
	pageWidth = 80
)

// A Timeline writes what happened in the runs of one world, in order. The zero Timeline
// leaves out messages and uses no colours.
type Timeline struct {
	Palette  Palette
	Messages bool
	// Width is the maximum number of columns in a line; 0 means 80.
	Width int
}

// Render returns the timelines of runs that differ in one thing, such as the storage's
// fencing. headings names the runs. The part up to the first difference is written once.
func (l Timeline) Render(headings []string, runs []*history.History) string {
	clauses := make([][]story.Clause, len(runs))
	for i, h := range runs {
		clauses[i] = story.Clauses(h, l.Messages)
	}
	return l.write(headings, clauses)
}

// write returns the timelines of runs from their clauses.
func (l Timeline) write(headings []string, timelines [][]story.Clause) string {
	page := l.layoutFor(timelines)
	var b strings.Builder
	common := 0
	if len(timelines) > 1 {
		common = story.CommonClauses(timelines)
		last := page.write(&b, timelines[0][:common], 0)
		if !slices.ContainsFunc(timelines, func(clauses []story.Clause) bool { return len(clauses) != common }) {
			fmt.Fprintf(&b, "  %s\n", l.Palette.strong(textwrap.Wrap("All of this happened in each run: "+story.List(eachVisible(headings))+".", page.width-2, 2)))
			return b.String()
		}
		if common > 0 {
			fmt.Fprintf(&b, "  %s\n", l.Palette.faint(textwrap.Wrap("Same so far. From here on the runs "+story.List(eachVisible(headings))+" differ:", page.width-2, 2)))
		}
		for i, clauses := range timelines {
			fmt.Fprintf(&b, "\n  %s\n", l.Palette.strong(story.Visible(headings[i])))
			page.write(&b, clauses[common:], last)
		}
		return b.String()
	}
	for _, clauses := range timelines {
		page.write(&b, clauses, 0)
	}
	return b.String()
}

// clausesOf returns the timelines of runs that differ in one thing; see [story.Timelines].
func clausesOf(runs []scenarios.RunResult, messages, marked bool) (timelines [][]story.Clause, folded int) {
	var all []story.Run
	for _, run := range runs {
		all = append(all, story.Run{History: run.History, Verdict: run.Verdict, Witnesses: run.Witnesses()})
	}
	return story.Timelines(all, messages, marked)
}

// timelineLayout is the layout of a timeline: its colours and the widths of its columns.
type timelineLayout struct {
	palette   Palette
	width     int // maximum number of columns in a line
	decimals  int // of the seconds in a time
	timeWidth int // width of the times in characters
	nameWidth int // width of the names in characters
}

// layoutFor returns a layout into which the clauses of all timelines fit.
func (l Timeline) layoutFor(timelines [][]story.Clause) timelineLayout {
	p := timelineLayout{palette: l.Palette, width: cmp.Or(l.Width, pageWidth), decimals: 3}
	if l.Messages {
		p.decimals = 6
	}
	for _, clauses := range timelines {
		for _, e := range clauses {
			p.timeWidth = max(p.timeWidth, len(story.Moment(e.At, p.decimals)))
			p.nameWidth = max(p.nameWidth, utf8.RuneCountInString(e.Subject.String()))
		}
	}
	p.nameWidth = min(p.nameWidth, 20)
	return p
}

// write writes clauses. last is when the clause before the first of them ended. It returns
// when the last of them ended.
func (p timelineLayout) write(b *strings.Builder, clauses []story.Clause, last time.Duration) time.Duration {
	indent := 2 + p.timeWidth + 2 + p.nameWidth + 2
	for _, c := range clauses {
		if gap := c.Wait(last); gap != "" {
			fmt.Fprintf(b, "  %s\n", p.palette.faint(fmt.Sprintf("%*s  %s", p.timeWidth, "⋮", gap)))
		}
		last = max(last, c.End())
		name := c.Subject.String()
		name += strings.Repeat(" ", max(0, p.nameWidth-utf8.RuneCountInString(name)))
		margin := " "
		if c.Sign != "" {
			margin = p.palette.paint(signMoodOf[c.Sign].Class(), string(c.Sign))
		}
		fmt.Fprintf(b, "%s %*s  %s  %s\n", margin, p.timeWidth, story.Moment(c.At, p.decimals), p.palette.strong(name), p.palette.paint(c.Mood.Class(), p.block(c.Predicate, indent)))
		for _, m := range c.Marks {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", indent), p.palette.paint(m.Mood.Class(), string(m.Sign)+" "+p.block(m.Text, indent+2)))
		}
	}
	return last
}

// block breaks a text into lines that all begin in the given column.
func (p timelineLayout) block(text story.Raw, column int) string {
	lines := textwrap.Wrap(text.String(), p.width-column, 0)
	return strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", column))
}

// signMoodOf maps the sign of a clause to its mood, which selects the colour of the sign.
var signMoodOf = map[story.Sign]story.Mood{story.Noteworthy: story.FaultMood, story.Broken: story.WrongMood}
