package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

func writeExploredText(w io.Writer, r *explore.Result, o Options) error {
	t := &exploredText{text{Options: o, width: exploredWidth}, r}
	d := exploredDocument(r, o.Since)
	t.ways(d, r.Ways, "Ways to break it, the worst first", "", "", legend(r.Ways))
	d.addComparison(r, o.Since)
	t.ways(d, r.RanOn, "Kept apart", whyApart, "r", without(legend(r.RanOn), legend(r.Ways)))
	d.add("", paragraph(unwrittenWays(r)))
	all := charts(r.Maps)
	for _, c := range all {
		d.add(c.title(), figure(c.figure(o.Palette)))
	}
	if len(all) > 0 {
		d.add("", figure("  "+chartLegend+"\n"))
	}
	d.addCoverage(r)
	t.document(d)
	_, err := io.WriteString(w, NoCommands(t.b.String()))
	return err
}

// exploredText is a text report of a search that is being written.
type exploredText struct {
	text
	result *explore.Result
}

// ways adds a chapter with a table of ways, and a paragraph on each. The number of
// each begins with a letter, if there is one.
func (t *exploredText) ways(d *document, ways []explore.Way, title, why, letter string, legend facts) {
	if len(ways) == 0 {
		return
	}
	all := []piece{paragraph(why), figure(t.table(ways, letter)), legend}
	for i, w := range ways {
		all = append(all, figure(t.way(w, letter, i+1)))
	}
	d.add(fmt.Sprintf("%s (%d)", title, len(ways)), all...)
}

// unwrittenWays says how to run the ways, if none of them was written.
func unwrittenWays(r *explore.Result) string {
	could := false
	for _, w := range slices.Concat(r.Ways, r.RanOn) {
		if w.File != "" {
			return ""
		}
		could = could || w.Text != nil
	}
	if !could {
		return ""
	}
	return "With --ways DIR each way is written as a scenario, for locksim run to tell."
}

// table has a row for each way.
func (t *exploredText) table(ways []explore.Way, letter string) string {
	header := []string{"", "way", "without fencing", "with fencing", "whose fault", "size", "worlds"}
	var rows [][]string
	for i, w := range ways {
		var sizes []string
		for _, m := range w.Margins {
			sizes = append(sizes, marginCell(m))
		}
		rows = append(rows, []string{
			fmt.Sprintf("%s%d", letter, i+1),
			t.newsLine(w, letter) + textwrap.Wrap(causeWords(w), 24, 0),
			t.harmCell(w.Off),
			t.harmCell(w.On),
			t.blameCell(w),
			strings.Join(sizes, "\n"),
			story.Thousands(w.Worlds),
		})
	}
	return strings.Join(grid(header, rows, nil), "")
}

// newsLine is a line of a cell that says that the way is new, if it is. What is
// kept apart is not compared, though it may have the ID of a way that is.
func (t *exploredText) newsLine(w explore.Way, letter string) string {
	if n, is := t.Since.news(w); is && letter == "" {
		return t.Palette.bad(n.label()) + "\n"
	}
	return ""
}

// harmCell has a line for each thing that broke.
func (t *exploredText) harmCell(broke []string) string {
	colour := t.Palette.doubt
	switch {
	case len(broke) == 0:
		return t.Palette.good("–")
	case corrupts(broke):
		colour = t.Palette.bad
	}
	words := inShort(broke)
	for i := range words {
		words[i] = colour(words[i])
	}
	return strings.Join(words, "\n")
}

func (t *exploredText) blameCell(w explore.Way) string {
	switch w.Fault.Whose {
	case checks.ByLock:
		return t.Palette.bad(whoseFault(w))
	case checks.ByNature:
		return "inherent" // what that means is below the table
	}
	return textwrap.Wrap(whoseFault(w), 13, 0)
}

// way is a paragraph on one way. What the table says is not said again.
func (t *exploredText) way(w explore.Way, letter string, place int) string {
	p := &text{Options: t.Options, width: t.width}
	number := fmt.Sprintf("Way %s%d: ", letter, place)
	p.line("%s", t.Palette.strong(textwrap.Wrap(number+wayTitle(w), exploredWidth, len(number))))
	if n, is := t.Since.news(w); is && letter == "" {
		p.line("  %s", t.Palette.bad(textwrap.Wrap(n.says(t.Since.Since), exploredWidth-2, 2)))
	}
	if told := story.Visible(textwrap.OneLine(w.Story)); told != "" {
		p.line("  %s", textwrap.Wrap(told, exploredWidth-2, 2))
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
	add("workload", worldWords(t.result, w.Example))
	for _, m := range w.Margins {
		add("size", marginWords(m))
	}
	add("strikes", stagesWords(w))
	add("also by", othersWords(w))
	p.remarks(rows)
	if w.File != "" { // the command is never broken, so that it can be copied
		command := replayWay(w.File)
		label := len("replay")
		for _, row := range rows {
			label = max(label, len(row.About))
		}
		if 4+label+utf8.RuneCountInString(command) <= exploredWidth {
			command = t.Palette.strong(pad("replay", label)) + "  " + command
		}
		p.line("  %s", command)
	}
	p.piece(listing{lines: stack(w)})
	return p.b.String()
}
