package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/story"
)

func writeMatrixText(w io.Writer, m *Matrix, o Options) error {
	t := &text{Options: o}
	t.document(m.document(figure(m.grid(o.Palette)), m.legend()))
	_, err := io.WriteString(w, NoCommands(t.b.String()))
	return err
}

// grid is the matrix itself.
func (m *Matrix) grid(p Palette) string {
	header := []string{"scenario"}
	if len(m.Locks) == 0 {
		header = append(header, "assumption")
		for _, p := range checks.PropertiesOf(checks.OfExclusion) {
			header = append(header, p.Card().Column)
		}
		header = append(header, "without", "with")
	}
	for _, lock := range m.Locks {
		header = append(header, story.Visible(lock))
	}
	var rows [][]string
	titles := map[int]string{} // by the number of the row that they stand above
	for _, shelf := range m.shelves() {
		titles[len(rows)] = shelf.Title
		for _, s := range shelf.Scenarios {
			of := shelf.rows[s]
			if len(of) == 1 {
				rows = append(rows, m.cells(of[0], story.Visible(s.Name), p))
				continue
			}
			rows = append(rows, append([]string{story.Visible(s.Name)}, make([]string, len(header)-1)...))
			for _, r := range of {
				rows = append(rows, m.cells(r, "  "+story.Visible(r.Variant.Name), p))
			}
		}
	}
	lines := grid(header, rows, nil)
	for i := range lines {
		lines[i] = lines[i][1:] // every column is needed
	}
	head := lines[:len(lines)-len(rows)]
	if len(rows) > 0 {
		head[1] = strings.Replace(head[1], "─", "", 1) // nor does it outreach the others
	}
	var b strings.Builder
	if len(m.Locks) == 0 {
		// The header of the columns in pairs.
		over := strings.Repeat(" ", column(head[0], header[2])) + "exclusion"
		over += strings.Repeat(" ", column(head[0], "without")-utf8.RuneCountInString(over)) + "fencing tokens"
		b.WriteString(over + "\n")
	}
	b.WriteString(strings.Join(head, ""))
	for i, line := range lines[len(head):] {
		if title, begins := titles[i]; begins {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%s\n", p.strong(title))
		}
		b.WriteString(line)
	}
	return b.String()
}

// column is where a word begins in a line.
func column(line, word string) int {
	before, _, _ := strings.Cut(line, word)
	return utf8.RuneCountInString(before)
}

// cells is one line of the matrix.
func (m *Matrix) cells(r Row, name string, p Palette) []string {
	line := []string{name}
	if len(m.Locks) == 0 {
		line = append(line, r.assumption())
	}
	for _, c := range r.Cells {
		switch {
		case len(m.Locks) == 0:
			line = append(line, exclusionSigns(c, p)...)
			line = append(line, verdictSign(c, 0, p), verdictSign(c, 1, p))
		case !c.told():
			line = append(line, p.faint("n/a"))
		case !c.known():
			line = append(line, p.doubt("?"))
		default:
			line = append(line, worstSigns(c, p)+" "+verdictPair(c, p))
		}
	}
	return line
}

// exclusionSign says what became of a property in the two runs: one sign if it
// was the same.
func exclusionSign(c Cell, property checks.Property, p Palette) string {
	var signs []string
	for _, o := range c.outcomes(property) {
		signs = append(signs, outcomeSign(o, p))
	}
	return strings.Join(signs, "→")
}

// exclusionSigns are those of the exclusions, a column each.
func exclusionSigns(c Cell, p Palette) []string {
	var signs []string
	for _, property := range checks.PropertiesOf(checks.OfExclusion) {
		signs = append(signs, exclusionSign(c, property, p))
	}
	return signs
}

// worstSigns are one sign for each exclusion in any case: what is violated in either run.
func worstSigns(c Cell, p Palette) string {
	signs := ""
	for _, property := range checks.PropertiesOf(checks.OfExclusion) {
		signs += outcomeSign(worst(c.outcomes(property)), p)
	}
	return signs
}

// verdictSign is a verdict with its sign in front: "✗ unsafe", "✓ safe",
// "! safe p", "? unknown".
func verdictSign(c Cell, run int, p Palette) string {
	if !c.told() {
		return verdictCell(checks.Undecided, p)
	}
	b := runBadge(c.Runs[run])
	return b.paint(strings.TrimSpace(b.Text()+" "+initials(caveats(c.Runs[run]))), p)
}

// verdictPair is both verdicts as signs, or the one that both runs came to:
// "✗→✓", "✓".
func verdictPair(c Cell, p Palette) string {
	without, with := verdictMark(c, 0, p), verdictMark(c, 1, p)
	if without == with {
		return with
	}
	return without + "→" + with
}

// verdictMark is a verdict as a sign alone: "✗", "✓", "!p".
func verdictMark(c Cell, run int, p Palette) string {
	b := runBadge(c.Runs[run])
	return b.paint(b.Sign+initials(caveats(c.Runs[run])), p)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
