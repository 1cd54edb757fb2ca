package reports

import (
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
	// pageWidth is the maximum number of columns in a line of a text report. It does not
	// depend on the terminal, so the same run always gives the same text. The narrowest
	// terminals in use have 80 columns.
	pageWidth = 80
)

// A Timeline writes what happened in the runs of one world, in order. The zero Timeline
// leaves out messages and uses no colours.
type Timeline struct {
	Palette  Palette
	Messages bool
}

// Render returns the timelines of runs that differ in one thing, such as the storage's
// fencing. headings names the runs. The part up to the first difference is written once.
func (l Timeline) Render(headings []string, runs []*history.History) string {
	stories := make([][]story.Clause, len(runs))
	for i, h := range runs {
		stories[i] = story.Clauses(h, l.Messages)
	}
	return l.write(headings, stories)
}

// write returns the timelines of runs from their clauses.
func (l Timeline) write(headings []string, stories [][]story.Clause) string {
	page := l.page(stories)
	var b strings.Builder
	common := 0
	if len(stories) > 1 {
		common = commonPrefix(stories)
		last := page.write(&b, stories[0][:common], 0)
		if allHaveLength(stories, common) {
			fmt.Fprintf(&b, "  %s\n", l.Palette.strong(textwrap.Wrap("All of this happened in each run: "+story.List(eachVisible(headings))+".", pageWidth-2, 2)))
			return b.String()
		}
		if common > 0 {
			fmt.Fprintf(&b, "  %s\n", l.Palette.faint(textwrap.Wrap("Same so far. From here on the runs "+story.List(eachVisible(headings))+" differ:", pageWidth-2, 2)))
		}
		for i, told := range stories {
			fmt.Fprintf(&b, "\n  %s\n", l.Palette.strong(story.Visible(headings[i])))
			page.write(&b, told[common:], last)
		}
		return b.String()
	}
	for _, told := range stories {
		page.write(&b, told, 0)
	}
	return b.String()
}

// clausesOf returns the clauses of a run, with the important moments marked.
func clausesOf(run scenarios.RunResult, messages bool) []story.Clause {
	return story.Marked(story.Clauses(run.History, messages), marksOf(run))
}

// marksOf returns the important moments of a run.
func marksOf(run scenarios.RunResult) []story.Mark {
	return story.MarksOf(run.History, run.Verdict, run.Witnesses())
}

// commonPrefix returns the number of clauses at the beginning that are equal in all
// timelines.
func commonPrefix(stories [][]story.Clause) int {
	n := 0
	for {
		for _, told := range stories {
			if n >= len(told) || !sameClause(told[n], stories[0][n]) {
				return n
			}
		}
		n++
	}
}

// allHaveLength reports whether all timelines have the same number of clauses.
func allHaveLength(stories [][]story.Clause, common int) bool {
	for _, told := range stories {
		if len(told) != common {
			return false
		}
	}
	return true
}

// sameClause reports whether two clauses look the same in a timeline.
func sameClause(a, b story.Clause) bool {
	return a.At == b.At && a.Subject == b.Subject && a.Predicate == b.Predicate &&
		slices.EqualFunc(a.Marks, b.Marks, func(m, n story.Mark) bool { return m.Text == n.Text })
}

// page is the layout of a timeline: its colours and the widths of its columns.
type page struct {
	palette  Palette // of the seconds in a time
	decimals int
	time     int // width of the times in characters
	who      int // width of the names in characters
}

// page returns a layout into which the clauses of all timelines fit.
func (l Timeline) page(stories [][]story.Clause) page {
	p := page{palette: l.Palette, decimals: 3}
	if l.Messages {
		p.decimals = 6
	}
	for _, told := range stories {
		for _, e := range told {
			p.time = max(p.time, len(story.Moment(e.At, p.decimals)))
			p.who = max(p.who, utf8.RuneCountInString(e.Subject.String()))
		}
	}
	p.who = min(p.who, 20)
	return p
}

// write writes clauses. last is when the clause before the first of them ended. It returns
// when the last of them ended.
func (p page) write(b *strings.Builder, clauses []story.Clause, last time.Duration) time.Duration {
	indent := 2 + p.time + 2 + p.who + 2
	for _, c := range clauses {
		if gap := c.Wait(last); gap != "" {
			fmt.Fprintf(b, "  %s\n", p.palette.faint(fmt.Sprintf("%*s  %s", p.time, "⋮", gap)))
		}
		last = c.End()
		who := c.Subject.String()
		who += strings.Repeat(" ", max(0, p.who-utf8.RuneCountInString(who)))
		margin := " "
		if c.Sign != "" {
			margin = p.palette.paint(moodClass[signMoods[c.Sign]], string(c.Sign))
		}
		fmt.Fprintf(b, "%s %*s  %s  %s\n", margin, p.time, story.Moment(c.At, p.decimals), p.palette.strong(who), p.palette.paint(moodClass[c.Mood], block(c.Predicate, indent)))
		for _, m := range c.Marks {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", indent), p.palette.paint(moodClass[m.Mood], string(m.Sign)+" "+block(m.Text, indent+2)))
		}
	}
	return last
}

// block breaks a text into lines that all begin in the given column.
func block(text story.Raw, column int) string {
	lines := textwrap.Wrap(text.String(), pageWidth-column, 0)
	return strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", column))
}

// moodClass maps the mood of a clause to the tone of its text.
var moodClass = map[story.Mood]string{story.PlainMood: plain, story.DetailMood: "soft", story.FaultMood: "doubt", story.WrongMood: "bad"}

// signMoods maps the sign of a clause to the mood of the sign.
var signMoods = map[story.Sign]story.Mood{story.Noteworthy: story.FaultMood, story.Broken: story.WrongMood}
