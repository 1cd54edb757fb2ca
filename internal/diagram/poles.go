package diagram

import (
	"cmp"
	"slices"
)

// placePoles places the poles: the vertical lines from the pennants, which are labels above
// the lanes, down through all lanes. A pole has a gap at each pill (a decision of the
// storage) on its way, because a line through a pill would look as if it crossed the
// decision out. If the pennant is about the decision itself, its pole ends above the pill.
func (l *layout) placePoles() {
	pills := slices.Clone(l.figure.Decisions)
	slices.SortStableFunc(pills, func(a, b figurePill) int { return cmp.Compare(a.Y, b.Y) })
	for i, flag := range l.figure.Pennants {
		from := flag.Y
		addPiece := func(to int) {
			if from < to {
				l.figure.Poles = append(l.figure.Poles, figurePole{flag.Class, flag.X, from, to})
			}
		}
		isOwn := false
		for _, p := range pills {
			if p.covers(flag.X) {
				addPiece(p.Y - pillGap)
				from = p.end()
				isOwn = isOwn || p.Seq == l.diagram.pennants[i].seq
			}
		}
		if !isOwn {
			addPiece(l.figure.Height)
		}
	}
}
