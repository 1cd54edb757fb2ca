package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locksim/locksim/history"
)

const (
	// pageWidth is how wide a text report is: it fits the narrowest terminal in
	// use, and the same run gives the same text on each.
	pageWidth = 80
	// silence is how long nothing must happen for the timeline to say so.
	silence = time.Second
)

// A Timeline tells what happened in one run or in several of one world, in
// order. Zero options tell the story without the messages.
type Timeline struct {
	Palette  Palette
	Messages bool
}

// Tell writes the timelines of runs that were made alike but for one thing,
// such as the storage's fencing, which headings names for each. What all runs
// have in common, up to the first difference, is written once.
func (l Timeline) Tell(headings []string, runs []*history.History) string {
	stories := make([][]entry, len(runs))
	for i, h := range runs {
		stories[i] = storyOf(h, l.Messages)
	}
	return l.write(headings, stories)
}

func (l Timeline) write(headings []string, stories [][]entry) string {
	page := l.page(stories)
	var b strings.Builder
	common := 0
	if len(stories) > 1 {
		common = commonPrefix(stories)
		last := page.write(&b, stories[0][:common], 0)
		if alike(stories, common) {
			fmt.Fprintf(&b, "  %s\n", l.Palette.strong(fmt.Sprintf("All of this happened in each of the %d runs.", len(stories))))
			return b.String()
		}
		if common > 0 {
			fmt.Fprintf(&b, "  %s\n", l.Palette.faint(wrap("So far the runs are the same. From here on they differ:", pageWidth-2, 2)))
		}
		for i, story := range stories {
			fmt.Fprintf(&b, "\n  %s\n", l.Palette.strong(visible(headings[i])))
			page.write(&b, story[common:], last)
		}
		return b.String()
	}
	for _, story := range stories {
		page.write(&b, story, 0)
	}
	return b.String()
}

// commonPrefix is how many entries all stories begin with.
func commonPrefix(stories [][]entry) int {
	n := 0
	for {
		for _, story := range stories {
			if n >= len(story) || !sameEntry(story[n], stories[0][n]) {
				return n
			}
		}
		n++
	}
}

func alike(stories [][]entry, common int) bool {
	for _, story := range stories {
		if len(story) != common {
			return false
		}
	}
	return true
}

func sameEntry(a, b entry) bool {
	return a.at == b.at && a.who == b.who && a.text == b.text &&
		slices.EqualFunc(a.marks, b.marks, func(m, n mark) bool { return m.text == n.text })
}

// page is the layout that all parts of a timeline share.
type page struct {
	palette  Palette
	decimals int
	time     int // columns of the time
	who      int // columns of the name
}

func (l Timeline) page(stories [][]entry) page {
	p := page{palette: l.Palette, decimals: 3}
	if l.Messages {
		p.decimals = 6
	}
	for _, story := range stories {
		for _, e := range story {
			p.time = max(p.time, len(moment(e.at, p.decimals)))
			p.who = max(p.who, utf8.RuneCountInString(e.who))
		}
	}
	p.who = min(p.who, 20)
	return p
}

// write writes entries; last is when the entry before them happened, which is
// returned for the last of them.
func (p page) write(b *strings.Builder, entries []entry, last time.Duration) time.Duration {
	indent := 2 + p.time + 2 + p.who + 2
	for _, e := range entries {
		if gap := e.at - last; gap >= silence && !e.again {
			fmt.Fprintf(b, "  %s\n", p.palette.faint(fmt.Sprintf("%*s  %s", p.time, "⋮", span(gap)+" pass")))
		}
		last = max(e.at, e.until)
		who := e.who + strings.Repeat(" ", max(0, p.who-utf8.RuneCountInString(e.who)))
		text := wrap(e.text, pageWidth-indent, 0)
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
		margin := " "
		if e.sign != "" {
			margin = p.paint(signMoods[e.sign], e.sign)
		}
		fmt.Fprintf(b, "%s %*s  %s  %s\n", margin, p.time, moment(e.at, p.decimals), p.palette.strong(who), p.paint(e.mood, text))
		for _, m := range e.marks {
			text := m.sign + " " + wrap(m.text, pageWidth-indent-2, 0)
			text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent+2))
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", indent), p.paint(m.mood, text))
		}
	}
	return last
}

func (p page) paint(m mood, s string) string {
	switch m {
	case faint:
		return p.palette.faint(s)
	case fault:
		return p.palette.doubt(s)
	case wrong:
		return p.palette.bad(s)
	}
	return s
}
