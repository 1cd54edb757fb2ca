package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// A peril is what becomes of a lock, with the run in which it does: what a cell of a
// chart shows. The worse is the greater.
type peril int

const (
	unharmed peril = iota
	unclear
	misbehaved
	twoHolders
	corruptedWithout
	corruptedWith
)

// perilSigns are the cells of a chart.
var perilSigns = []string{unharmed: "·", unclear: "?", misbehaved: "m", twoHolders: "2", corruptedWithout: "x", corruptedWith: "X"}

// perilTones are their colours on a terminal.
var perilTones = []string{unharmed: "good", unclear: "soft", misbehaved: "doubt", twoHolders: "doubt", corruptedWithout: "doubt", corruptedWith: "bad"}

// chartLegend explains the signs, and that of misconduct only where there is any: it is rare.
func chartLegend(all ...chart) string {
	says := "  ·  safe   2  two holders   x  corrupted without fencing   X  even with fencing   ?  unknown\n"
	if slices.ContainsFunc(all, func(c chart) bool { return slices.ContainsFunc(c.perils, misbehaves) }) {
		says += "  m  misconduct: the lock does what no caller can live with\n"
	}
	return says
}

// misbehaves reports whether a lock does so in any cell of a line.
func misbehaves(line []peril) bool { return slices.Contains(line, misbehaved) }

// perilOf is what the cell of a map says. Of a word that this program does not know
// nothing is clear.
func perilOf(d explore.Danger, fencing string) peril {
	switch d {
	case explore.Harmless:
		return unharmed
	case explore.Misbehaved:
		return misbehaved
	case explore.TwoHolders:
		return twoHolders
	case explore.Corrupted:
		if fencing == runs.With {
			return corruptedWith
		}
		return corruptedWithout
	}
	return unclear
}

// A chart is the danger maps of one client, without fencing tokens and with them, in
// one: side by side they are too wide, and one below the other they hide what fencing
// tokens change.
type chart struct {
	explore.DangerMap
	perils [][]peril
}

// charts puts maps together. Those without cells are left out.
func charts(maps []explore.DangerMap) []chart {
	var all []chart
	for _, m := range maps {
		if len(m.Starts) == 0 || len(m.Lengths) == 0 {
			continue
		}
		at := slices.IndexFunc(all, func(c chart) bool {
			return c.Base == m.Base && c.Client == m.Client && slices.Equal(c.Starts, m.Starts) && slices.Equal(c.Lengths, m.Lengths)
		})
		if at < 0 {
			at = len(all)
			c := chart{DangerMap: m}
			for range m.Starts {
				c.perils = append(c.perils, make([]peril, len(m.Lengths)))
			}
			all = append(all, c)
		}
		for i, row := range m.Cells {
			for k, danger := range row {
				all[at].perils[i][k] = max(all[at].perils[i][k], perilOf(danger, m.Fencing))
			}
		}
	}
	return all
}

// title says what the chart shows.
func (c chart) title() string {
	return fmt.Sprintf("What comes of a pause of %s, by when it begins and how long it lasts (workload %s)", story.Visible(c.Client), story.Visible(c.Base))
}

// exploredWidth is how wide the report of a search may be. Its tables and maps
// have more columns than fit pageWidth.
const exploredWidth = 100

// figure draws the chart: a line for each start, and in it a sign for each length. Of
// many lines in a row that are the same only the first and the last are drawn. Where
// the columns are narrow not every one has its length above it, and all lengths are
// listed below.
func (c chart) figure(p Palette) string {
	const corner = "the pause begins"
	lengths, longest := make([]string, len(c.Lengths)), 0
	for i, d := range c.Lengths {
		lengths[i] = trace.ShortDuration(d)
		longest = max(longest, utf8.RuneCountInString(lengths[i]))
	}
	rows, margin := c.rows(), utf8.RuneCountInString(corner)
	for _, r := range rows {
		margin = max(margin, utf8.RuneCountInString(r.label))
	}
	margin += 4 // two columns before it and two after
	cell := max(1, min(longest+2, (exploredWidth-margin)/len(lengths)))
	every := (longest + 1 + cell) / cell // so that two blanks are between two lengths

	var b strings.Builder
	line := func(s string) { b.WriteString(strings.TrimRight(s, " ") + "\n") }
	header := pad("  "+corner, margin)
	for i := 0; i < len(lengths); i += every {
		if at := pad(header, margin+i*cell) + lengths[i]; utf8.RuneCountInString(at) <= exploredWidth {
			header = at
		}
	}
	line(header)
	for _, r := range rows {
		cells := ""
		for _, danger := range r.perils {
			cells += p.paint(perilTones[danger], perilSigns[danger]) + strings.Repeat(" ", cell-1)
		}
		line(pad("  "+r.label, margin) + cells)
	}
	if every > 1 {
		line("")
		line("  " + textwrap.Wrap("columns: "+series(c.Lengths, lengths), exploredWidth-2, 4))
	}
	return b.String()
}

// A chartRow is a line of a chart, or one that stands for several that are the same
// and has no cells.
type chartRow struct {
	label  string
	perils []peril
	// start is its place in Starts.
	start int
}

// rows are the lines of the chart.
func (c chart) rows() []chartRow {
	starts := eachVisible(c.Starts)
	var rows []chartRow
	for first := 0; first < len(starts); {
		last := first
		for last+1 < len(starts) && slices.Equal(c.perils[last+1], c.perils[first]) {
			last++
		}
		for i := first; i <= last; i++ {
			if between := last - first - 1; between > 1 && i > first {
				rows = append(rows, chartRow{label: fmt.Sprintf("  ⋮ %d more, the same", between)})
				i = last
			}
			rows = append(rows, chartRow{starts[i], c.perils[i], i})
		}
		first = last + 1
	}
	return rows
}

// series lists lengths, or says what the steps are from the first to the last if all
// are the same.
func series(lengths []time.Duration, words []string) string {
	n := len(lengths)
	if n > 3 {
		step := lengths[1] - lengths[0]
		even := true
		for i := range n - 1 {
			even = even && lengths[i+1]-lengths[i] == step
		}
		if even {
			return fmt.Sprintf("%s to %s in steps of %s", words[0], words[n-1], trace.ShortDuration(step))
		}
	}
	return strings.Join(words, ", ")
}
