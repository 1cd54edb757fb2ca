package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func writeMatrixText(w io.Writer, m *Matrix, o Options) error {
	t := &text{Options: o}
	words := m.textSpelling(o.Palette)
	t.document(m.document(figure(m.grid(words)), m.legend(words)))
	_, err := io.WriteString(w, NoCommands(t.b.String()))
	return err
}

// textSpelling is that of text, where there is room for signs and letters.
func (m *Matrix) textSpelling(p Palette) spelling {
	w := spellingInFull()
	w.palette, w.text, w.indent = p, story.Visible, "  "
	w.scenario = func(s *scenarios.Scenario) string { return story.Visible(s.Name) }
	w.exclusion = func(p checks.Property) string { return p.Card().Column }
	w.about, w.runs = about, [2]string{"without", "with"}
	w.verdict = func(c Cell, run int) string { return verdictSign(c, run, p) }
	w.mark, w.arrow = func(c Cell, run int) string { return verdictMark(c, run, p) }, "→"
	w.caveat = func(p checks.Property) string { return "! safe " + letters([]checks.Property{p}) }
	if len(m.Locks) > 0 {
		w.unsafe, w.safe, w.unknown = "✗ data", "✓ data", "?"
		w.caveat = func(p checks.Property) string { return "!" + letters([]checks.Property{p}) + " data" }
		w.pairs = facts{
			{"then a→b", "the data in the run in which nobody checks fencing tokens, and in the same run when the storage does; one sign if it is the same"},
			{"nodes", "each story keeps its own number of nodes: on the one node of most single-instance stories Redlock is no better than any other lock"},
		}
	}
	return w
}

// grid is the matrix itself.
func (m *Matrix) grid(w spelling) string {
	header := m.header(w)
	var rows [][]string
	titles := map[int]string{} // by the number of the row that they stand above
	for _, line := range m.lines(w) {
		if line.title != "" {
			titles[len(rows)] = line.title
			continue
		}
		rows = append(rows, line.cells)
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
			fmt.Fprintf(&b, "%s\n", w.palette.strong(title))
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

// exclusionSign says what became of a property in the two runs: one sign if it
// was the same.
func exclusionSign(c Cell, property checks.Property, p Palette) string {
	var signs []string
	for _, o := range c.outcomes(property) {
		signs = append(signs, outcomeSign(o, p))
	}
	return strings.Join(signs, "→")
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
	return b.paint(strings.TrimSpace(b.Text()+" "+letters(caveats(c.Runs[run]))), p)
}

// verdictMark is a verdict as a sign alone: "✗", "✓", "!p".
func verdictMark(c Cell, run int, p Palette) string {
	b := runBadge(c.Runs[run])
	return b.paint(b.Sign+letters(caveats(c.Runs[run])), p)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
