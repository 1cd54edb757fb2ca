package storyboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// Sizes in pixels.
const (
	margin      = 24
	left        = 184 // where the lanes' lines begin
	right       = Width - margin
	small       = 16 // the size of ordinary text
	large       = 19 // the size of text about the most important moments
	titleSize   = 28
	headHeight  = 52 // the height of the waits and times above the lanes
	footHeight  = 34
	endingRow   = 70
	endGap      = 280 // the distance between two moments of an ending
	leadIn      = 30  // the room between the lanes' beginning and the first moment
	textGap     = 9   // between a moment's line and its text
	columnGap   = 14  // between a text and the next moment
	barHeight   = 34
	leaseHeight = 12
)

// A layout gives every part of a script its position.
type layout struct {
	*script
	board *Board
	lanes []*row
	// columns are the positions of the common moments, and endColumns those of the moments
	// of endings. fork is where the runs begin to differ.
	columns, endColumns []int
	fork                int
	axis                axis
	top, bottom         int
	// isClipped says that there is not enough room for the text of a moment.
	isClipped bool
	colours   map[string]string
}

// A row is a lane with its position. Its line is at base, and its texts begin below bars.
type row struct {
	lane
	y, height int
	base      int
	// bars is the height of the bars at the top of the row, and texts that of the texts below
	// them.
	bars, texts int
}

func newLayout(title string, s *script) *layout {
	l := &layout{script: s, colours: map[string]string{}}
	l.board = &Board{ID: s.runs[0].ID, Title: story.Visible(textwrap.OneLine(title))}
	return l
}

// draw draws the board.
func (l *layout) draw() *Board {
	l.placeTitle()
	l.addLanes()
	l.placeColumns()
	l.fillBars()
	l.placeLanes()
	l.newAxis()
	l.placeLabels()
	l.placeTimes()
	l.placeBars()
	l.placeMoments()
	l.placeEndings()
	l.placeFoot()
	l.board.Moments = len(l.common) + l.endSteps()
	l.board.Steps = len(l.common)
	for _, e := range l.endings {
		l.board.Steps += max(1, len(e.moments))
	}
	l.board.next = append(slices.Clone(l.columns), l.fork)
	l.describe()
	return l.board
}

// text adds a text.
func (l *layout) text(t Text) { l.board.Texts = append(l.board.Texts, t) }

// shape adds a shape.
func (l *layout) shape(s Shape) { l.board.Shapes = append(l.board.Shapes, s) }

// placeTitle places the heading in one or two lines.
func (l *layout) placeTitle() {
	size := titleSize
	lines, fits := wrap(l.board.Title, Width-2*margin, 1, size, true)
	if !fits {
		size = 22
		lines, _ = wrap(l.board.Title, Width-2*margin, 2, size, true)
	}
	y := margin / 2
	for _, line := range lines {
		y += size * 6 / 5
		l.text(Text{Class: "title", X: margin, Y: y, Size: size, Bold: true, Line: story.Raw(line)})
	}
	l.top = y + 14
}

// addLanes adds the lanes: the lock service, the clients and the storage.
func (l *layout) addLanes() {
	h := l.cast.history
	if !h.NoExclusion() {
		l.lanes = append(l.lanes, &row{lane: lockLane, bars: 30})
	}
	for i, client := range l.cast.clients {
		l.colours[client] = fmt.Sprintf("c%d", i)
		l.lanes = append(l.lanes, &row{lane: clientLane(client), bars: barHeight + leaseHeight + 6})
	}
	l.lanes = append(l.lanes, &row{lane: storageLane, bars: 26})
}

// rowOf returns the row of a lane, or that of the storage if the lane is not shown.
func (l *layout) rowOf(on lane) *row {
	for _, r := range l.lanes {
		if r.lane == on {
			return r
		}
	}
	return l.lanes[len(l.lanes)-1]
}

// isLarge reports whether a moment is one of the most important ones, whose text is large.
func (m *moment) isLarge() bool {
	switch m.kind {
	case readKind, writeKind, noticeKind, failureKind:
		return false
	}
	return true
}

// lineHeight returns the distance of two lines of text.
func lineHeight(size int) int { return size * 5 / 4 }

// size returns the size of a moment's text.
func (m *moment) size() int {
	if m.isLarge() {
		return large
	}
	return small
}

// textLane returns the row on which the text of a moment is written. The text of a grant is
// written on the lane of the lock service.
func (l *layout) textLane(m *moment) *row {
	if m.kind == grantKind {
		return l.rowOf(lockLane)
	}
	return l.rowOf(m.lane)
}

// span returns how many columns the text of the i-th common moment may use: up to the next
// text on the same row, or the next arrow that crosses the row.
func (l *layout) span(i int) int {
	on := l.textLane(l.common[i])
	for j := i + 1; j < len(l.common); j++ {
		m := l.common[j]
		if l.textLane(m) == on && m.isInBar == l.common[i].isInBar || l.crosses(m, on) {
			return j - i
		}
	}
	return len(l.common) - i
}

// crosses reports whether the arrow of a moment crosses the text of a row.
func (l *layout) crosses(m *moment, on *row) bool {
	if m.comesFrom == nil {
		return false
	}
	place := func(r lane) int { return slices.Index(l.lanes, l.rowOf(r)) }
	a, b, at := place(m.comesFrom.lane), place(m.lane), slices.Index(l.lanes, on)
	return min(a, b) <= at && at < max(a, b)
}

// placeColumns gives the moments their horizontal positions, and breaks their texts into
// lines.
func (l *layout) placeColumns() {
	n, ends := len(l.common), l.endSteps()
	endWidth := 0
	if ends > 0 {
		endWidth = 60 + (ends-1)*endGap
	}
	room := right - left - leadIn - endWidth
	widths := make([]int, n)
	const least = 84 // the width of a time
	total := 0
	for i := range widths {
		widths[i] = least
		total += least
	}
	for i, m := range l.common {
		span := l.span(i)
		need := l.leastWidth(m)
		for j := i; j < i+span; j++ {
			need -= widths[j]
		}
		for j := i; j < i+span && need > 0; j++ {
			part := (need + span - 1) / span
			widths[j] += part
			total += part
		}
	}
	x := left + leadIn
	for i := range widths {
		l.columns = append(l.columns, x)
		x += widths[i] * room / max(total, room)
		if total < room {
			x += (room - total) / n
		}
	}
	l.fork = x
	if n == 0 {
		l.fork = left + leadIn
	}
	for i := range ends {
		l.endColumns = append(l.endColumns, right-endWidth+34+i*endGap)
	}
}

// fillBars writes the texts of faults of clients into the bars of their lanes, where there is
// room for them in one line.
func (l *layout) fillBars() {
	for i, m := range l.common {
		if m.kind != faultKind || m.lane.client == "" {
			continue
		}
		m.isInBar = true
		_, m.isInBar = l.linesOf(i, 1)
	}
}

// leastWidth returns the least width in which the text of a moment takes no more than three
// lines.
func (l *layout) leastWidth(m *moment) int {
	width := 70
	for {
		if _, fits := wrap(m.text, width, 3, m.size(), m.isLarge()); fits || width > 400 {
			return width + textGap + columnGap
		}
		width += 6
	}
}

// linesOf returns the lines of the text of the i-th common moment, in at most limit lines,
// and whether the whole text fits.
func (l *layout) linesOf(i, limit int) (lines []string, fits bool) {
	end := right
	if len(l.endColumns) > 0 {
		end = l.fork
	}
	if j := i + l.span(i); j < len(l.columns) {
		end = l.columns[j]
	}
	m := l.common[i]
	return wrap(m.text, end-l.columns[i]-textGap-columnGap, limit, m.size(), m.isLarge())
}

// placeLanes gives the lanes their heights and positions.
func (l *layout) placeLanes() {
	l.top += headHeight
	l.bottom = Height - footHeight - len(l.endings)*endingRow
	for limit := 3; ; limit-- {
		need := 0
		for _, r := range l.lanes {
			r.texts = 0
		}
		for i, m := range l.common {
			if r := l.textLane(m); !m.isInBar {
				lines, _ := l.linesOf(i, limit)
				r.texts = max(r.texts, len(lines)*lineHeight(m.size()))
			}
		}
		for _, r := range l.lanes {
			r.height = r.bars + 16 + r.texts
			need += r.height
		}
		spare := l.bottom - l.top - need
		if spare < 0 && limit > 1 {
			continue
		}
		y := l.top
		for _, r := range l.lanes {
			r.height += min(spare/len(l.lanes), 60)
			r.y = y
			y += r.height
			r.base = r.y + 8 + barHeight/2
			if r.client == "" {
				r.base = r.y + 20
			}
		}
		l.bottom = y
		return
	}
}

// linesFor returns how many lines of text of a size there is room for on a row.
func (r *row) linesFor(size int) int { return (r.height - r.bars - 12) / lineHeight(size) }

// placeLabels draws the lanes, with their names.
func (l *layout) placeLabels() {
	h := l.cast.history
	for _, r := range l.lanes {
		l.shape(Shape{Class: "board-lane " + string(r.role), X: 0, Y: r.y + 1, W: Width, H: r.height - 2})
		end := right
		if l.endSteps() > 0 {
			end = l.fork
		}
		l.shape(Shape{Class: "line", Path: fmt.Sprintf("M%d %dH%d", left, r.base, end)})
		name, below := "storage", ""
		switch {
		case r.client != "":
			name = textwrap.Clip(story.Visible(r.client), 12)
			l.shape(Shape{Class: "swatch " + l.colours[r.client], X: margin, Y: r.base - 7, W: 12, H: 14, Corner: 2})
		case r.lane == lockLane:
			name, below = "lock service", l.nodesUsed()
		default:
			if len(l.cast.objects) == 1 {
				below = textwrap.Clip(story.Visible(l.cast.objects[0]), 12)
			} else if n := len(objectsOf(h)); n > 1 {
				below = fmt.Sprintf("%d objects", n)
			}
		}
		x := margin
		if r.client != "" {
			x += 20
		}
		l.text(Text{Class: "name", X: x, Y: r.base + 6, Size: 17, Bold: true, Line: story.Raw(name)})
		if below != "" {
			l.text(Text{Class: "quiet", X: margin, Y: r.base + 6 + lineHeight(small), Size: small, Line: story.Raw(below)})
		}
	}
}

// objectsOf returns the objects that were written.
func objectsOf(h *history.History) []string {
	var all []string
	for _, v := range h.Versions() {
		if !slices.Contains(all, v.Object) {
			all = append(all, v.Object)
		}
	}
	return all
}

// nodesUsed says on how many of the nodes the lock keeps its grants.
func (l *layout) nodesUsed() string {
	h := l.cast.history
	used, nodes := map[string]bool{}, 0
	for _, lock := range h.Trace.Locks {
		for _, s := range lock.Slots {
			used[s.Node] = true
		}
		for _, m := range lock.Members {
			used[m] = true
		}
	}
	n := 0
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleNode {
			nodes++
			if used[p.Name] {
				n++
			}
		}
	}
	switch {
	case nodes == 0 || n == 0:
		return ""
	case nodes == 1:
		return "1 node"
	}
	return fmt.Sprintf("%d of %d nodes", n, nodes)
}

// placeTimes writes the times of the common moments above the lanes, and the length of each
// long wait between them.
func (l *layout) placeTimes() {
	y := l.top - 10
	for i, m := range l.common {
		x := l.columns[i]
		l.shape(Shape{Class: "tick-line", Path: fmt.Sprintf("M%d %dV%d", x, l.top-4, l.bottom), step: i + 1})
		l.text(Text{Class: "quiet", X: x, Y: y, Anchor: "middle", Size: small, Line: story.Raw(story.Moment(m.At, 3)), step: i + 1})
		if i > 0 {
			l.placeWait(l.columns[i-1], x, m.At-l.common[i-1].At, i+1)
		}
	}
}

// placeWait marks a long wait between two positions, with its length.
func (l *layout) placeWait(from, to int, wait trueTime, step int) {
	if wait < story.Silence {
		return
	}
	x, y := (from+to)/2, l.top-32
	l.text(Text{Class: "wait", X: x, Y: y, Anchor: "middle", Size: small, Bold: true, Line: story.Raw(story.ProseSpan(wait)), step: step})
	l.shape(Shape{Class: "break", Path: fmt.Sprintf("M%d %dl4 -7l8 14l8 -14l4 7", x-12, y+13), step: step})
}

// placeMoments draws the common moments.
func (l *layout) placeMoments() {
	for i, m := range l.common {
		r := l.rowOf(m.lane)
		x := l.columns[i]
		step := i + 1
		if m.comesFrom != nil {
			l.placeArrow(*m.comesFrom, r, x, step, l.colourOf(m))
		}
		l.placeMark(m, r, x, step)
		on := l.textLane(m)
		y := on.y + on.bars + 10 + m.size()
		class := m.class()
		if m.isInBar {
			y = on.y + 8 + barHeight/2 + large/3
			class += " in-bar"
		}
		limit := max(1, min(3, on.linesFor(m.size())))
		if m.isInBar {
			limit = 1
		}
		lines, fits := l.linesOf(i, limit)
		l.isClipped = l.isClipped || !fits
		for _, line := range lines {
			l.text(Text{Class: class, X: x + textGap, Y: y, Size: m.size(), Bold: m.isLarge(), Line: story.Raw(line), step: step})
			y += lineHeight(m.size())
		}
	}
}

// class returns the CSS class of the text of a moment.
func (m *moment) class() string {
	switch m.kind {
	case pauseKind, crashKind, faultKind, lapseKind, storageLossKind:
		return "caption fault"
	case lateWriteKind, findingKind, keyLossKind:
		return "caption wrong"
	case refusalKind:
		return "caption good"
	}
	return "caption"
}

// colourOf returns the CSS class of the client of a moment.
func (l *layout) colourOf(m *moment) string { return cmp.Or(l.colours[m.client], "nobody") }

// placeArrow draws an arrow from a place to the row at x.
func (l *layout) placeArrow(from place, to *row, x, step int, colour string) {
	origin := l.rowOf(from.lane)
	startX := min(l.axis.x(from.Moment), x-18)
	startY, endY := origin.base, to.base
	switch {
	case origin.client != "" && !l.isInSection(from): // there is no bar
	case origin.client != "" && endY > startY:
		startY += barHeight / 2
	case origin.client != "":
		startY -= barHeight / 2
	case endY > startY:
		startY += 8
	}
	switch {
	case to.client != "" && endY > startY:
		endY -= barHeight/2 + 2
	case endY > startY:
		endY -= 13
	default:
		endY += 13
	}
	path := fmt.Sprintf("M%d %d", startX, startY)
	if origin.client != "" && endY > startY && slices.ContainsFunc(l.columns, func(c int) bool { return startX < c && c < x-18 }) {
		startY = origin.y + origin.height - 4 // beside the texts of the lane
		path += fmt.Sprintf("V%d", startY)
	}
	l.shape(Shape{Class: "arrow " + colour, Path: path + fmt.Sprintf("L%d %d", x, endY), step: step})
	l.shape(Shape{Class: "head " + colour, Path: arrowHead(startX, startY, x, endY), step: step})
}

// isInSection reports whether a client is in a section of the cast at a moment.
func (l *layout) isInSection(at place) bool {
	return slices.ContainsFunc(l.cast.sections, func(s *history.Section) bool {
		return s.Client == at.lane.client && !s.GrantsEveryone && !at.Before(s.From) && at.Before(s.To)
	})
}

// arrowHead returns the path of the head of an arrow.
func arrowHead(fromX, fromY, x, y int) string {
	const length, half = 13, 6
	dx, dy := float64(x-fromX), float64(y-fromY)
	n := math.Hypot(dx, dy)
	if n == 0 {
		n = 1
	}
	dx, dy = dx/n, dy/n
	baseX, baseY := float64(x)-length*dx, float64(y)-length*dy
	return fmt.Sprintf("M%d %dL%.0f %.0fL%.0f %.0fz", x, y, baseX-half*dy, baseY+half*dx, baseX+half*dy, baseY-half*dx)
}

// placeMark draws the sign of a moment on its row.
func (l *layout) placeMark(m *moment, r *row, x, step int) {
	switch m.kind {
	case writeKind, lateWriteKind, readKind, refusalKind:
		l.placeRequest(m, x, r.base, step)
	case lapseKind:
		l.shape(Shape{Class: "expiry", Path: fmt.Sprintf("M%d %dV%d", x, r.y+2, r.y+r.height-3), step: step})
	case faultKind, crashKind, pauseKind, storageLossKind, keyLossKind, findingKind:
		if !m.isInBar {
			class := "bolt"
			if m.kind == keyLossKind || m.kind == findingKind {
				class = "bolt wrong"
			}
			l.shape(Shape{Class: class, Path: fmt.Sprintf("M%d %dl-7 12h6l-3 10l9 -14h-6l4 -8z", x+2, r.base-11), step: step})
		}
	case noticeKind, failureKind:
		l.shape(Shape{Class: "knot " + l.colourOf(m), X: x - 5, Y: r.base - 5, W: 10, H: 10, Corner: 5, step: step})
	}
}

// placeRequest draws what the storage did with a request, with its middle at x and y.
func (l *layout) placeRequest(m *moment, x, y, step int) {
	const w, h = 26, 22
	s := Shape{Class: "request " + l.colourOf(m), X: x - w/2, Y: y - h/2, W: w, H: h, Corner: h / 2, step: step}
	switch m.kind {
	case refusalKind:
		s.Class += " refused"
		s.Corner = 2
	case lateWriteKind:
		s.Class += " late applied"
	case writeKind:
		s.Class += " applied"
	}
	l.shape(s)
	if m.kind == refusalKind {
		l.shape(Shape{Class: "strike", Path: fmt.Sprintf("M%d %dL%d %d", x-w/2, y+h/2, x+w/2, y-h/2), step: step})
	}
}

// describe describes the board in words, with a sentence for each moment.
func (l *layout) describe() {
	say := func(words string, step int) {
		l.board.sentences = append(l.board.sentences, sentence{story.Visible(words), step})
	}
	sayMoments := func(all []*moment, step int) {
		for i, m := range all {
			on := cmp.Or(m.lane.client, map[trace.Role]string{trace.RoleNode: "lock service", trace.RoleStorage: "storage"}[m.lane.role])
			say(fmt.Sprintf("%s %s: %s.", story.Moment(m.At, 3), on, m.text), step+i)
		}
	}
	say(l.board.Title+".", 0)
	sayMoments(l.common, 1)
	step := len(l.common) + 1
	for _, e := range l.endings {
		say(endingName(e.runs)+": "+e.runs[0].Verdict.Verdict+".", step)
		sayMoments(e.moments, step)
		step += max(1, len(e.moments))
	}
}

// endingName names the runs of an ending.
func endingName(runs []diagram.Run) string {
	var names []string
	for _, r := range runs {
		names = append(names, r.Title)
	}
	return story.List(names)
}
