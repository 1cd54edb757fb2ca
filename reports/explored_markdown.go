package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
)

// writeExploredMarkdown writes what a search found as the summary of a pull
// request, with links to the scenarios as seen from the directory in which locksim
// runs.
func writeExploredMarkdown(w io.Writer, r *explore.Result, o Options) error {
	m := &exploredMarkdown{result: r, since: o.Since}
	d := exploredDocument(r, o.Since)
	d.addComparison(r, o.Since)
	m.ways(d, r.Ways, "Ways to break it, the worst first", "", "")
	m.ways(d, r.RanOn, "Kept apart", whyApart, "r")
	for _, c := range charts(r.Maps) { // signs follow every label, so no line can end the block of code
		d.add(c.title(), figure(c.figure(Palette{})+"\n  "+chartLegend+"\n"))
	}
	d.addCoverage(r)
	md := &markdownText{level: 2}
	md.document(d)
	_, err := io.WriteString(w, md.b.String())
	return err
}

// exploredMarkdown is a search whose ways are being written in Markdown.
type exploredMarkdown struct {
	result *explore.Result
	since  *Comparison
}

// ways adds a chapter with a table of ways, and what locks did that no lock may do.
func (m *exploredMarkdown) ways(d *document, ways []explore.Way, title, why, letter string) {
	if len(ways) == 0 {
		return
	}
	table := cells{header: []string{"", "way", "faults", "without fencing", "with fencing", "whose fault", "size", "worlds", "scenario"}}
	var stacks []piece
	for i, w := range ways {
		table.rows = append(table.rows, m.cells(w, letter, i+1))
		stacks = append(stacks, listing{fmt.Sprintf("Way %s%d: what the lock did", letter, i+1), stack(w)})
	}
	d.add(fmt.Sprintf("%s (%d)", title, len(ways)), append([]piece{paragraph(why), table}, stacks...)...)
}

// cells is one row of a table of ways.
func (m *exploredMarkdown) cells(w explore.Way, letter string, number int) []string {
	way := markdown(wayTitle(w))
	if n, is := m.since.news(w); is && letter == "" {
		way = "**" + markdown(n.says(m.since.Since)) + "**<br>" + way
	}
	if others := othersWords(w); others != "" {
		way += "<br>also by: " + markdown(others)
	}
	var faults, sizes []string
	for _, f := range w.Example.Faults {
		faults = append(faults, markdown(exploredFaultWords(w.Example, f)))
	}
	if world := worldWords(m.result, w.Example); world != "" {
		faults = append(faults, "workload: "+markdown(world))
	}
	if stages := stagesWords(w); stages != "" {
		faults = append(faults, "strikes "+markdown(stages))
	}
	for _, margin := range w.Margins {
		sizes = append(sizes, markdown(marginWords(margin)))
	}
	scenario := ""
	if w.File != "" {
		scenario = link(fileForOthers(w.File), w.File)
	}
	return []string{
		letter + strconv.Itoa(number), way, strings.Join(faults, "<br>"),
		markdownBroke(w.Off), markdownBroke(w.On), markdownBlame(w), strings.Join(sizes, "<br>"), story.Thousands(w.Worlds), scenario,
	}
}

// markdownBroke is what broke, in bold if the data did.
func markdownBroke(broke []string) string {
	text := markdown(inFull(broke))
	if corrupts(broke) {
		return "**" + text + "**"
	}
	return text
}

func markdownBlame(w explore.Way) string {
	text := markdown(whoseFault(w))
	switch {
	case w.Fault == checks.FaultLock:
		return "**" + text + "**"
	case lateAlone(w):
		return text + ": a write came late"
	}
	return text
}
