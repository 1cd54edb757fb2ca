package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/explore"
	"github.com/locksim/locksim/story"
)

// writeExploredMarkdown writes what a search found as the summary of a pull
// request, with links to the scenarios as seen from the directory in which locksim
// runs.
func writeExploredMarkdown(w io.Writer, r *explore.Result, o Options) error {
	m := &exploredMarkdown{result: r, since: o.Since}
	m.line("## %s", markdown(exploredTitle(r)))
	m.line("")
	if said := incomplete(r); said != "" {
		m.line("**%s**", markdown(said))
		m.line("")
	}
	m.remarks(searched(r))
	m.comparison()
	m.ways(r.Ways, "Ways to break it, the worst first", "", "")
	m.ways(r.RanOn, "Kept apart", whyApart, "r")
	m.maps()
	m.heading("What was tried")
	m.remarks(coverage(r))
	if kinds := kindsWords(r); kinds != "" {
		m.line("")
		m.line("%s", kinds)
	}
	if none := notFound(r); len(none) > 0 {
		m.heading("What was not found")
		for _, a := range none {
			m.line("- %s", markdown(a.says))
		}
	}
	m.line("")
	m.line("%s", markdown(exploredSummary(r, o.Since)))
	_, err := io.WriteString(w, m.b.String())
	return err
}

// exploredMarkdown is a report of a search that is being written in Markdown.
type exploredMarkdown struct {
	b      strings.Builder
	result *explore.Result
	since  *Comparison
}

func (m *exploredMarkdown) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format+"\n", args...)
}

func (m *exploredMarkdown) heading(title string) {
	m.line("")
	m.line("### %s", markdown(title))
	m.line("")
}

func (m *exploredMarkdown) remarks(rows []remark) {
	for _, row := range rows {
		m.line("- **%s**: %s", markdown(string(row.about)), markdown(string(row.text)))
	}
}

// ways is a table of ways.
func (m *exploredMarkdown) ways(ways []explore.Way, title, why, letter string) {
	if len(ways) == 0 {
		return
	}
	m.heading(fmt.Sprintf("%s (%d)", title, len(ways)))
	if why != "" {
		m.line("%s", why)
		m.line("")
	}
	header := []string{"", "way", "faults", "without fencing", "with fencing", "whose fault", "size", "worlds", "scenario"}
	m.line("| %s |", strings.Join(header, " | "))
	m.line("|%s", strings.Repeat("---|", len(header)))
	for i, w := range ways {
		m.line("| %s |", strings.Join(m.cells(w, letter, i+1), " | "))
	}
	m.stacks(ways, letter)
}

// stacks folds away what locks did that no lock may do.
func (m *exploredMarkdown) stacks(ways []explore.Way, letter string) {
	for i, w := range ways {
		if lines := stack(w); lines != nil {
			m.line("\n<details><summary>Way %s%d: what the lock did</summary>\n", letter, i+1)
			for _, line := range lines {
				m.line("    %s", line)
			}
			m.line("\n</details>")
		}
	}
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
		faults = append(faults, markdown(exploredFaultWords(f)))
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

// comparison lists what is new and what is gone.
func (m *exploredMarkdown) comparison() {
	c := m.since
	if c == nil {
		return
	}
	m.heading("Compared with " + c.Since)
	if len(c.New)+len(c.Gone) == 0 {
		m.line("- the same ways, and none worse")
	}
	for _, n := range c.New {
		m.line("- **%s**", markdown(n.inOne()))
	}
	for _, w := range c.Gone {
		m.line("- %s", markdown("not found again: "+goneWords(w)))
	}
	for _, doubt := range c.doubts(m.result) {
		m.line("- %s", markdown(doubt))
	}
}

// maps draws the danger maps as the text report does. No line of theirs can end
// the block of code, because signs follow every label.
func (m *exploredMarkdown) maps() {
	for _, c := range charts(m.result.Maps) {
		m.heading(c.title())
		m.line("```text\n%s\n  %s\n```", c.figure(Palette{}), chartLegend)
	}
}
