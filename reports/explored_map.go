package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/peril"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// perilTones are the colours of the signs on a terminal.
var perilTones = []string{
	peril.Unharmed: "good", peril.Unclear: "soft", peril.Misbehaved: "doubt", peril.TwoHolders: "doubt",
	peril.CorruptedWithout: "doubt", peril.CorruptedWith: "bad",
}

// chartLegend explains the signs of charts, in lines of at most width columns. It explains the sign
// of misconduct only if one of the charts has it, because that is rare.
func chartLegend(width int, all ...chart) string {
	var text, line string
	for _, sign := range []string{"·  safe", "2  two at work", "x  corrupted without fencing", "X  corrupted in both runs", "?  unknown"} {
		switch {
		case line == "":
			line = "  " + sign
		case utf8.RuneCountInString(line+"   "+sign) > width:
			text, line = text+line+"\n", "  "+sign
		default:
			line += "   " + sign
		}
	}
	text += line + "\n"
	if slices.ContainsFunc(all, func(c chart) bool { return slices.ContainsFunc(c.perils, misbehaves) }) {
		text += "  m  " + textwrap.Wrap("misconduct: the lock does something that no caller can tolerate", width-5, 5) + "\n"
	}
	return text
}

// misbehaves reports whether a row of a chart shows misconduct of the lock.
func misbehaves(line []peril.Peril) bool { return slices.Contains(line, peril.Misbehaved) }

// A chart is a danger map for both runs. It combines the two maps of one client, without
// and with fencing tokens. Side by side they would be too wide. One below the other it
// would be hard to see what fencing tokens change.
type chart struct {
	explore.DangerMap
	perils [][]peril.Peril
}

// charts combines the danger maps of a search into charts. It leaves out maps without
// cells.
func charts(maps []explore.DangerMap) []chart {
	var all []chart
	for _, m := range maps {
		if len(m.Starts) == 0 || len(m.Lengths) == 0 {
			continue
		}
		index := slices.IndexFunc(all, func(c chart) bool {
			return c.Base == m.Base && c.Client == m.Client && slices.Equal(c.Starts, m.Starts) && slices.Equal(c.Lengths, m.Lengths)
		})
		if index < 0 {
			index = len(all)
			c := chart{DangerMap: m}
			for range m.Starts {
				c.perils = append(c.perils, make([]peril.Peril, len(m.Lengths)))
			}
			all = append(all, c)
		}
		for i, row := range m.Cells {
			for k, danger := range row {
				all[index].perils[i][k] = max(all[index].perils[i][k], peril.Of(danger, m.Fencing))
			}
		}
	}
	return all
}

// title returns a title that says what the chart shows.
func (c chart) title() string {
	return fmt.Sprintf("Effect of a pause of %s, by its beginning and its length (workload %s)", story.Visible(c.Client), story.Visible(c.Base))
}

// exploredWidth is the maximum width of the text report of a search, in columns, if the width of
// the terminal is not known. Its tables and charts do not fit into pageWidth: in a narrower
// report, a table is drawn in parts, and the labels of a chart are broken.
const exploredWidth = 100

// draw draws the chart: a line for each start of a pause, with a sign for each length of
// the pause. Of several equal lines in a row it draws only the first and the last. If there
// is no room for all lengths above the columns, it writes some of them there and lists all
// of them below. No line is longer than width, if all signs and a label of some words fit.
func (c chart) draw(p Palette, width int) string {
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
	const leastLabel = 24
	labelWidth := max(min(margin, width-len(lengths)-4), leastLabel)
	margin = min(margin, labelWidth) + 4 // two columns before the label and two after it
	cell := max(1, min(longest+2, (width-margin)/len(lengths)))
	labelInterval := (longest + 1 + cell) / cell // the number of cells between two lengths; it leaves at least one blank

	var b strings.Builder
	line := func(s string) { b.WriteString(strings.TrimRight(s, " ") + "\n") }
	header := pad("  "+corner, margin)
	for i := 0; i < len(lengths); i += labelInterval {
		if extended := pad(header, margin+i*cell) + lengths[i]; utf8.RuneCountInString(extended) <= width {
			header = extended
		}
	}
	line(header)
	for _, r := range rows {
		cells := ""
		for _, danger := range r.perils {
			cells += p.paint(perilTones[danger], danger.Sign()) + strings.Repeat(" ", cell-1)
		}
		label := []string{"  " + r.label}
		if utf8.RuneCountInString(r.label) > labelWidth {
			label = strings.Split("  "+textwrap.Wrap(r.label, labelWidth, 2), "\n")
		}
		for _, l := range label[:len(label)-1] {
			line(l)
		}
		line(pad(label[len(label)-1], margin) + cells)
	}
	if labelInterval > 1 {
		line("")
		line("  " + textwrap.Wrap("columns: "+listLengths(c.Lengths, lengths), width-2, 4))
	}
	return b.String()
}

// A chartRow is a line of a chart, or a line without cells that stands in for several equal
// lines.
type chartRow struct {
	label  string
	perils []peril.Peril
	// start is the index of the line's start in Starts.
	start int
}

// rows returns the lines of the chart.
func (c chart) rows() []chartRow {
	starts := eachVisible(c.Starts)
	var rows []chartRow
	for first := 0; first < len(starts); {
		last := first
		for last+1 < len(starts) && slices.Equal(c.perils[last+1], c.perils[first]) {
			last++
		}
		for i := first; i <= last; i++ {
			if omitted := last - first - 1; omitted > 1 && i > first {
				rows = append(rows, chartRow{label: fmt.Sprintf("  ⋮ %d more, the same", omitted)})
				i = last
			}
			rows = append(rows, chartRow{starts[i], c.perils[i], i})
		}
		first = last + 1
	}
	return rows
}

// listLengths lists lengths in words. If the steps between them are equal, it gives only
// the first, the last and the step.
func listLengths(lengths []time.Duration, words []string) string {
	n := len(lengths)
	if n > 3 {
		step := lengths[1] - lengths[0]
		isRegular := true
		for i := range n - 1 {
			isRegular = isRegular && lengths[i+1]-lengths[i] == step
		}
		if isRegular {
			return fmt.Sprintf("%s to %s in steps of %s", words[0], words[n-1], trace.ShortDuration(step))
		}
	}
	return strings.Join(words, ", ")
}
