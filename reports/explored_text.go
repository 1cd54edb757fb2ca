package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/textwrap"
)

// writeExploredText writes the result of a search for a terminal.
func writeExploredText(w io.Writer, r *explore.Result, o Options) error {
	o.Width = cmp.Or(o.Width, exploredWidth)
	d := exploredDocument(r, o.Since)
	found, ranOn := wayLists(r, o.Since)
	add := func(l wayList, legend facts) {
		if len(l.ways) == 0 {
			return
		}
		pieces := []piece{paragraph(l.explanation), l.shortTable(), legend}
		for i := range l.ways {
			pieces = append(pieces, l.describeWay(i, r, o))
		}
		d.add(l.heading(), pieces...)
	}
	add(found, legend(r.Ways))
	d.addComparison(r, o.Since)
	add(ranOn, exclude(legend(r.RanOn), legend(r.Ways)))
	d.add("", paragraph(unwrittenWays(r)))
	all := charts(r.Maps)
	for _, c := range all {
		d.add(c.title(), figure(c.draw(o.Palette, o.Width)))
	}
	if len(all) > 0 {
		d.add("", figure(chartLegend(o.Width, all...)))
	}
	d.addCoverage(r)
	t := &text{Options: o}
	t.document(d)
	return t.writeTo(w)
}

// unwrittenWays says how to get the scenario files of the ways, if none was written and
// their texts are known; "" otherwise.
func unwrittenWays(r *explore.Result) string {
	hasText := false
	for _, w := range slices.Concat(r.Ways, r.RanOn) {
		if w.File != "" {
			return ""
		}
		hasText = hasText || w.Text != nil
	}
	if !hasText {
		return ""
	}
	return "With --ways DIR each way is written to a scenario file that locksim run can run."
}

// describeWay describes the way with index i, except what the table already shows.
func (l wayList) describeWay(i int, r *explore.Result, o Options) figure {
	p, w := &text{Options: o}, l.ways[i]
	number := "Way " + l.number(i) + ": "
	p.line("%s", p.Palette.strong(textwrap.Wrap(number+wayTitle(w), o.Width, len(number))))
	if news := l.news(w); news != "" {
		p.line("  %s", p.Palette.bad(textwrap.Wrap(news, o.Width-2, 2)))
	}
	if narrative := visibleLine(w.Story); narrative != "" {
		p.line("  %s", textwrap.Wrap(narrative, o.Width-2, 2))
	}
	var rows []remark
	add := func(about, text string) {
		if text != "" {
			rows = append(rows, remarkOn(about, text))
		}
	}
	for i, f := range w.Example.Faults {
		about := "fault"
		if len(w.Example.Faults) > 1 {
			about += fmt.Sprintf(" %d", i+1)
		}
		add(about, exploredFaultWords(w.Example, f))
	}
	add("workload", worldWords(r, w.Example))
	for _, m := range w.Margins {
		add("size", m.String())
	}
	add("strikes", stagesWords(w))
	add("also by", otherCauses(w))
	facts(rows).text(p)
	if w.File != "" { // the command must stay on one line, so that readers can copy it
		command := replayWay(w.File)
		label := len("replay")
		for _, row := range rows {
			label = max(label, len(row.About))
		}
		if 4+label+utf8.RuneCountInString(command) <= o.Width {
			command = p.Palette.strong(pad("replay", label)) + "  " + command
		}
		p.line("  %s", command)
	}
	listing{Lines: stack(w, o.Width)}.text(p)
	return figure(p.b.String())
}
