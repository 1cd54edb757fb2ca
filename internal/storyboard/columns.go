package storyboard

import "slices"

// isLarge reports whether a moment is one of the most important ones, whose text is large.
func (m *moment) isLarge() bool {
	switch m.kind {
	case readKind, writeKind, noticeKind, failureKind:
		return false
	}
	return true
}

// lineHeight returns the vertical distance between two lines of text of a size.
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

// span returns how many columns the text of the i-th common moment (a moment that all runs share)
// may use: up to the next text on the same row, or the next arrow that crosses the row.
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

// crosses reports whether the arrow of a moment crosses the place of the texts of a row.
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

// fillBars decides which texts about faults of clients are written into the bars of the client's
// lane: those for which there is room in one line.
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
