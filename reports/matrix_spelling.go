package reports

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A spelling says in which words and signs a format writes the content of a matrix.
type spelling struct {
	// exclusion returns the head of the column of an exclusion property, which is mutual
	// exclusion of leases or of critical sections. about returns its explanation. runs are the heads
	// of the columns with the verdicts, without and with fencing.
	exclusion, about func(checks.Property) string
	runs             [2]string
	// sign writes the sign of an outcome. verdict writes the verdict of a run that has its own
	// column. If both runs share a column, mark writes each verdict, and arrow is written between
	// the two.
	sign          func(badge) span
	verdict, mark func(c Cell, run int) span
	arrow         string
	// pairs explains a column that both runs share; nil if the format has two columns for
	// each lock.
	pairs facts
	// unsafe, safe, unknown and notApplicable are the words in cells. caveat returns the
	// word for a safe run that violates a property. unknownWhy explains unknown.
	unsafe, safe, unknown, notApplicable, unknownWhy string
	caveat                                           func(checks.Property) string
}

// spellingInFull returns the spelling with full words. The other spellings change parts of
// it.
func spellingInFull() spelling {
	return spelling{
		sign:      signSpan,
		exclusion: func(p checks.Property) string { return string(p) },
		about:     checks.Property.Title,
		runs:      [2]string{fencingNames[scenarios.Off], fencingNames[scenarios.On]},
		unsafe:    "unsafe", safe: "safe", unknown: "unknown", notApplicable: "n/a", unknownWhy: aboutUndecided,
		caveat: func(p checks.Property) string { return "safe, ✗ " + string(p) },
	}
}

// table returns the matrix as a table. A scenario with several variants has a line with its
// name above them.
func (m *Matrix) table(w spelling) table {
	out := table{Heads: m.heads(w)}
	add := func(name span, indented bool, more ...tableCell) {
		cells := make([]tableCell, len(out.Heads))
		copy(cells, append([]tableCell{{name}}, more...))
		out.Rows = append(out.Rows, tableRow{Cells: cells, indented: indented})
	}
	for _, shelf := range m.shelves() {
		out.Rows = append(out.Rows, tableRow{Title: shelf.Title})
		for _, s := range shelf.Scenarios {
			name := span{story.Visible(s.Name) + changedMark(s), plain, s.File}
			rows := shelf.rows[s]
			if len(rows) == 1 {
				add(name, false, m.cells(rows[0], w)...)
				continue
			}
			add(name, false)
			for _, r := range rows {
				add(span{Text: story.Visible(r.Variant.Name), Tone: plain}, true, m.cells(r, w)...)
			}
		}
	}
	return out
}

// heads returns the heads of the columns.
func (m *Matrix) heads(w spelling) []span {
	names := append([]string{"scenario"}, eachVisible(m.Locks)...)
	if len(m.Locks) == 0 {
		names = append(names, "assumption")
		for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
			names = append(names, w.exclusion(p))
		}
		names = append(names, w.runs[:]...)
	}
	return heads(names...)
}

// cells returns the cells of a row after its name.
func (m *Matrix) cells(r Row, w spelling) []tableCell {
	var cells []tableCell
	if len(m.Locks) == 0 {
		cells = append(cells, plainCell(r.assumption()))
	}
	for _, c := range r.Cells {
		switch {
		case len(m.Locks) == 0:
			for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
				cells = append(cells, signCell(distinctOutcomes(c.Runs, p), "→", w.sign))
			}
			cells = append(cells, tableCell{w.verdict(c, 0)}, tableCell{w.verdict(c, 1)})
		case !c.hasRuns():
			cells = append(cells, tableCell{{Text: w.notApplicable, Tone: "soft"}})
		case !c.isDecided():
			cells = append(cells, tableCell{{Text: w.unknown, Tone: "doubt"}})
		default:
			cells = append(cells, m.pair(c, w))
		}
	}
	return cells
}

// pair returns one cell for both runs. It has a sign for each exclusion property, which
// shows the worse outcome of the two runs, and then both verdicts. If the verdicts are
// equal, it shows one.
func (m *Matrix) pair(c Cell, w spelling) tableCell {
	var cell tableCell
	for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
		cell = append(cell, w.sign(outcomeBadges[worst(distinctOutcomes(c.Runs, p))]))
	}
	without, with := w.mark(c, 0), w.mark(c, 1)
	cell = append(cell, span{Text: " ", Tone: plain})
	if without != with {
		cell = append(cell, without, span{Text: w.arrow, Tone: plain})
	}
	return append(cell, with)
}

// legend explains everything that occurs in the matrix, and nothing else.
func (m *Matrix) legend(w spelling) facts {
	s := m.contents()
	var legend facts
	add := func(about, text string) { legend = append(legend, remarkOn(about, text)) }
	legend = append(legend, changesOf(m.Rows)...)
	if len(m.Locks) > 0 && len(w.pairs) > 0 {
		add("✓✗", aboutExclusions()+"; "+m.outcomes(s))
		legend = append(legend, w.pairs...)
	} else {
		add("assumption", aboutAssumptions)
		for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
			add(w.exclusion(p), w.about(p))
		}
		if len(m.Locks) == 0 {
			add("✓ ✗", m.outcomes(s))
		}
		add(w.runs[0], aboutNoFencing)
		add(w.runs[1], aboutFencing)
	}
	add(w.unsafe, aboutUnsafe())
	add(w.safe, aboutSafe)
	for _, p := range s.caveats {
		add(w.caveat(p), aboutCaveat(p))
	}
	if s.hasUnknown {
		add(w.unknown, w.unknownWhy)
	}
	if s.hasUnrun {
		add(w.notApplicable, aboutNotApplicable)
	}
	return legend
}
