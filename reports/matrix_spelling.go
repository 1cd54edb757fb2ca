package reports

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A spelling is how a format writes what a matrix shows.
type spelling struct {
	palette Palette
	// text writes what a scenario says, and scenario its name; indent stands before the
	// name of a variant.
	text     func(string) string
	scenario func(*scenarios.Scenario) string
	indent   string
	// exclusion is the head of an exclusion's column, and about explains it; runs are the
	// heads of the verdicts without fencing and with it.
	exclusion, about func(checks.Property) string
	runs             [2]string
	// verdict is what a run came to in a column of its own, and mark the same where both
	// runs share one, with the arrow between them.
	verdict, mark func(c Cell, run int) string
	arrow         string
	// pairs explain a column that both runs share; a format whose locks have two columns
	// each has none.
	pairs facts
	// unsafe, safe, unknown and untold are the words for cells, and caveat is that of a
	// safe run that a property qualifies. unknownWhy says where it is told why.
	unsafe, safe, unknown, untold, unknownWhy string
	caveat                                    func(checks.Property) string
}

// spellingInFull has the words in full, for where there is room.
func spellingInFull() spelling {
	return spelling{
		exclusion: func(p checks.Property) string { return string(p) },
		about:     checks.Property.Title,
		runs:      [2]string{runName[scenarios.Off], runName[scenarios.On]},
		unsafe:    "unsafe", safe: "safe", unknown: "unknown", untold: "n/a", unknownWhy: aboutUndecided,
		caveat: func(p checks.Property) string { return "safe, ✗ " + string(p) },
	}
}

// A matrixLine is a row of the table, or the title of a shelf.
type matrixLine struct {
	title string
	cells []string
}

// header are the heads of the columns.
func (m *Matrix) header(w spelling) []string {
	header := []string{"scenario"}
	if len(m.Locks) == 0 {
		header = append(header, "assumption")
		for _, p := range checks.PropertiesOf(checks.OfExclusion) {
			header = append(header, w.exclusion(p))
		}
		header = append(header, w.runs[:]...)
	}
	for _, lock := range m.Locks {
		header = append(header, w.text(lock))
	}
	return header
}

// lines are what stands below the header: a scenario of several variants has a line of its
// own above them.
func (m *Matrix) lines(w spelling) []matrixLine {
	columns := len(m.header(w))
	var lines []matrixLine
	add := func(name string, more ...string) {
		line := matrixLine{cells: make([]string, columns)}
		copy(line.cells, append([]string{name}, more...))
		lines = append(lines, line)
	}
	for _, shelf := range m.shelves() {
		lines = append(lines, matrixLine{title: shelf.Title})
		for _, s := range shelf.Scenarios {
			rows := shelf.rows[s]
			if len(rows) == 1 {
				add(w.scenario(s), m.cells(rows[0], w)...)
				continue
			}
			add(w.scenario(s))
			for _, r := range rows {
				add(w.indent+w.text(r.Variant.Name), m.cells(r, w)...)
			}
		}
	}
	return lines
}

// cells are a row but for its name.
func (m *Matrix) cells(r Row, w spelling) []string {
	var cells []string
	if len(m.Locks) == 0 {
		cells = append(cells, w.text(r.Variant.Assumption))
	}
	for _, c := range r.Cells {
		switch {
		case len(m.Locks) == 0:
			for _, p := range checks.PropertiesOf(checks.OfExclusion) {
				cells = append(cells, exclusionSign(c, p, w.palette))
			}
			cells = append(cells, w.verdict(c, 0), w.verdict(c, 1))
		case !c.told():
			cells = append(cells, w.palette.faint(w.untold))
		case !c.known():
			cells = append(cells, w.palette.doubt(w.unknown))
		default:
			without, with := w.mark(c, 0), w.mark(c, 1)
			if without != with {
				with = without + w.arrow + with
			}
			cells = append(cells, worstSigns(c, w.palette)+" "+with)
		}
	}
	return cells
}

// legend explains what stands in the matrix, and nothing that does not.
func (m *Matrix) legend(w spelling) facts {
	s := m.shown()
	var legend facts
	add := func(about, text string) { legend = append(legend, remarkOn(about, text)) }
	if len(m.Locks) > 0 && len(w.pairs) > 0 {
		add("✓✗", aboutExclusions()+"; "+m.outcomes(s))
		legend = append(legend, w.pairs...)
	} else {
		add("assumption", aboutAssumptions)
		for _, p := range checks.PropertiesOf(checks.OfExclusion) {
			add(w.exclusion(p), w.about(p))
		}
		if len(m.Locks) == 0 {
			add("✓ ✗", m.outcomes(s))
		}
		add(w.runs[0], aboutWithout)
		add(w.runs[1], aboutWith)
	}
	add(w.unsafe, aboutUnsafe())
	add(w.safe, aboutSafe)
	for _, p := range s.caveats {
		add(w.caveat(p), aboutCaveat(p))
	}
	if s.undecided {
		add(w.unknown, w.unknownWhy)
	}
	if s.untold {
		add(w.untold, aboutUntold)
	}
	return legend
}
