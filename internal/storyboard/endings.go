package storyboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// endSteps returns the number of moments in the longest ending. An ending is the part of a run
// after the runs have begun to differ.
func (l *layout) endSteps() int {
	n := 0
	for _, e := range l.endings {
		n = max(n, len(e.moments))
	}
	return n
}

// verdictSigns are the signs of the verdicts.
var verdictSigns = map[string]string{checks.Unsafe: "✗", checks.Safe: "✓", checks.Undecided: "?"}

// placeEndings draws a row for each ending below the lanes: the verdict, and what happened.
func (l *layout) placeEndings() {
	y := Height - footHeight - len(l.endings)*endingRow
	if l.endSteps() > 0 {
		l.shape(Shape{Class: "fork", Path: fmt.Sprintf("M%d %dV%d", l.fork, l.top-4, y), step: len(l.common) + 1})
		l.placeForkTime()
	}
	step := len(l.common) + 1
	for i, e := range slices.Backward(l.endings) { // the marks of all endings are drawn over these lines
		l.placeForkedWrite(e, i, y+i*endingRow+endingRow/2)
	}
	for i, e := range l.endings {
		l.placeEnding(e, i, y, step)
		y += endingRow
		step += e.steps()
	}
}

// rowShift is how far the first mark of each ending is shifted to the right, compared with the
// ending above. Without the shift, the lines to the two marks would cover each other.
const rowShift = 22

// placeForkedWrite draws two lines for the first request of the i-th ending: from its sender
// to the storage, at the moment at which the runs begin to differ, and from there to the row
// of the ending. y is the middle of that row.
func (l *layout) placeForkedWrite(e ending, i, y int) {
	if len(e.moments) == 0 || e.moments[0].comesFrom == nil || e.moments[0].lane != storageLane {
		return
	}
	step := len(l.common) + 1
	for _, before := range l.endings[:i] {
		step += before.steps()
	}
	m, at := e.moments[0], l.rowOf(storageLane)
	l.placeArrow(*m.comesFrom, at, l.fork, step, l.colourOf(m))
	l.shape(Shape{Class: "arrow " + l.colourOf(m), Path: fmt.Sprintf("M%d %dL%d %d", l.fork, at.base, l.endColumns[0]+rowShift*i, y), step: step})
	l.shape(Shape{Class: "knot " + l.colourOf(m), X: l.fork - 6, Y: at.base - 6, W: 12, H: 12, Corner: 6, step: step})
}

// placeForkTime writes, above the lanes, the time at which the endings begin, if it is the same for
// all endings.
func (l *layout) placeForkTime() {
	var first *moment
	for _, e := range l.endings {
		if len(e.moments) == 0 || first != nil && e.moments[0].At != first.At {
			return
		}
		first = e.moments[0]
	}
	n := len(l.common)
	l.text(Text{Class: "quiet", X: l.fork, Y: l.top - 10, Anchor: "middle", Size: small, Line: story.Raw(story.Moment(first.At, 3)), step: n + 1})
	if n > 0 {
		l.placeWait(l.columns[n-1], l.fork, first.At-l.common[n-1].At, n+1)
	}
}

// placeEnding draws the i-th ending at y. step is the first build with the ending's first moment:
// see [Board.Build].
func (l *layout) placeEnding(e ending, i, y, step int) {
	verdict := e.runs[0].Verdict.Verdict
	class, sign := verdict, verdictSigns[verdict]
	if len(e.runs[0].Verdict.Caveats()) > 0 {
		class, sign = "caveat", "!"
	}
	l.shape(Shape{Class: "ending " + class, X: 8, Y: y + 3, W: Width - 16, H: endingRow - 6, Corner: 6, step: step})
	name := endingName(e.runs)
	if len(e.runs) > 1 {
		name = "in both runs"
	}
	l.text(Text{Class: "name", X: margin, Y: y + 28, Size: 17, Bold: true, Line: story.Raw(name), step: step})
	l.text(Text{Class: "verdict " + class, X: margin, Y: y + 54, Size: large, Bold: true, Line: story.Raw(sign + " " + verdict), step: step})
	middle := y + endingRow/2
	outcome := outcomeOf(e)
	if len(e.moments) == 0 {
		l.writeLines(outcome, left+leadIn, right, middle, "caption "+classOf(e), "start", step)
		return
	}
	for j, m := range e.moments {
		x := l.endColumns[j]
		if j == 0 {
			x += rowShift * i
			words := story.Moment(m.At, 3) + "  " + l.describeInEnding(m)
			if len(e.moments) == 1 && outcome != "" {
				words += ": " + outcome
			}
			l.writeLines(words, left, x-24, middle, m.class(), "end", step)
		} else {
			l.writeLines(story.Moment(m.At, 3)+"  "+l.describeInEnding(m), l.endColumns[j-1]+rowShift*i+26, x-22, middle, m.class(), "end", step+j)
		}
		l.placeMark(m, &row{y: y, height: endingRow, base: middle}, x, step+j)
	}
}

// describeInEnding returns the text of a moment in an ending, with its subject.
func (l *layout) describeInEnding(m *moment) string {
	switch {
	case m.kind == refusalKind:
		return fmt.Sprintf("%s %s is %s", story.Possessive(m.client), m.step, m.text)
	case m.lane == storageLane && m.client != "":
		return m.client + " " + m.text
	case m.lane == storageLane && m.kind != faultKind:
		return story.NameOf(trace.StorageName) + " " + m.text
	case m.lane.client != "" && m.kind == grantKind:
		return m.lane.client + " is " + m.text
	case m.lane.client != "":
		return m.lane.client + " " + strings.TrimPrefix(m.text, "its ")
	}
	return m.text
}

// writeLines writes a text in at most three lines around the vertical middle.
func (l *layout) writeLines(s string, from, to, middle int, class, anchor string, step int) {
	lines, fits := wrap(s, to-from, 1, large, true)
	size := large
	if !fits {
		size = small
		lines, _ = wrap(s, to-from, 3, size, true)
	}
	y := middle + size/3 + 1 - (len(lines)-1)*lineHeight(size)/2
	x := from
	if anchor == "end" {
		x = to
	}
	for _, line := range lines {
		l.text(Text{Class: class, X: x, Y: y, Anchor: anchor, Size: size, Bold: true, Line: story.Raw(line), step: step})
		y += lineHeight(size)
	}
}

// outcomeOf says in a few words what broke in the runs of an ending; "" if the data is safe and
// the ending has moments that show what happened.
func outcomeOf(e ending) string {
	v := e.runs[0].Verdict
	switch {
	case v.Gravest() != "" && (v.Verdict != checks.Safe || !v.Gravest().IsData()):
		if v.Verdict == checks.Safe && len(e.moments) > 0 {
			return ""
		}
		return v.Gravest().Card().Broken
	case v.Verdict == checks.Undecided:
		return "the run says nothing about the lock"
	case len(e.moments) > 0:
		return ""
	}
	return "nothing breaks"
}

// classOf returns the CSS class of the text about the outcome of an ending.
func classOf(e ending) string {
	switch v := e.runs[0].Verdict; {
	case v.Gravest() != "":
		return "wrong"
	case v.Verdict == checks.Safe:
		return "good"
	}
	return "fault"
}

// placeFoot writes, below the endings, what the bars mean and what is not shown.
func (l *layout) placeFoot() {
	y := Height - 12
	x := margin
	for _, key := range []struct{ class, text string }{{"section", "critical section"}, {"lease", "lease"}, {"backing", "grant on the lock service"}} {
		isDrawn := func(s Shape) bool { return strings.HasPrefix(s.Class, "board-bar "+key.class+" ") }
		if !slices.ContainsFunc(l.board.Shapes, isDrawn) {
			continue
		}
		h := map[string]int{"section": 16, "lease": 10, "backing": 8}[key.class]
		l.shape(Shape{Class: "board-bar nobody " + key.class, X: x, Y: y - 5 - h/2, W: 24, H: h})
		x += 30
		l.text(Text{Class: "quiet", X: x, Y: y, Size: small, Line: story.Raw(key.text)})
		x += textWidth(key.text, small, false) + 20
	}
	if folded := l.describeFolded(); folded != "" {
		lines, _ := wrap("and "+folded, right-x, 1, small, false)
		l.text(Text{Class: "quiet", X: right, Y: y, Anchor: "end", Size: small, Line: story.Raw(textwrap.OneLine(strings.Join(lines, " ")))})
	}
}

// describeFolded says what the storyboard leaves out; "" if it leaves out nothing.
func (l *layout) describeFolded() string {
	var parts []string
	add := func(n int, noun string) {
		if n > 0 {
			parts = append(parts, story.Count(n, noun))
		}
	}
	add(l.cast.otherClients, "other client")
	add(l.cast.otherSections, "other section")
	add(l.dropped, "smaller moment")
	return story.List(parts)
}
