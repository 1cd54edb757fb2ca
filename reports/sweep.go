package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

const sweepSchema = "locksim/sweep/v1"

func init() {
	Sweeps.Register(Format[*whatif.Sweep]{Name: "text", Title: "a terminal", Write: writeSweepText})
	Sweeps.Register(Format[*whatif.Sweep]{Name: "markdown", Title: "a document", Write: writeSweepMarkdown})
	Sweeps.Register(Format[*whatif.Sweep]{Name: "json", Title: "programs: one document, schema " + sweepSchema, Write: writeSweepJSON})
}

// A sweepReport is a sweep with the options of its report.
type sweepReport struct {
	*whatif.Sweep
	Options
}

func writeSweepText(w io.Writer, s *whatif.Sweep, o Options) error {
	return writeTextDocument(w, sweepReport{s, o}.document(), o)
}

func writeSweepMarkdown(w io.Writer, s *whatif.Sweep, o Options) error {
	o = o.forPublication()
	return writeMarkdownDocument(w, sweepReport{s, o}.document())
}

// document returns the sweep as a document.
func (s sweepReport) document() *document {
	name := Row{Scenario: s.Scenario, Variant: s.Scenario.Variants[0]}.name()
	d := &document{title: fmt.Sprintf("%s: %s from %s to %s", name, story.Visible(s.Path), s.Format(s.From), s.Format(s.To))}
	d.add("", facts(append(rowsOf(setting.DescribeChanges(s.Scenario.Overrides)), remarkOn("lock", story.Visible(s.Lock)), remarkOn("seed", fmt.Sprint(s.Seed)))))
	d.add("", s.table())
	d.add("", figure(s.draw()))
	d.add("", paragraph(s.legend()))
	d.add("The first value of each band", s.examples())
	d.add("Commands that run it", figure(s.commands()))
	d.add("How it was found", paragraph(s.method()))
	return d
}

// command returns a command about the scenario with one more override.
func (s sweepReport) command(name, override string) string {
	line := overriddenCommand(name, s.Scenario, append(slices.Clip(s.Scenario.Overrides), override), scenarios.RunOptions{Seed: s.Seed, Lock: s.Lock}, s.Options)
	if name == "sweep" && s.Steps != whatif.DefaultSteps {
		line += fmt.Sprintf(" --steps %d", s.Steps)
	}
	return line
}

// label returns the values of a band.
func (s sweepReport) label(b whatif.SweepBand) string {
	if b.From == b.To {
		return s.Format(b.From)
	}
	return s.Format(b.From) + " to " + s.Format(b.To)
}

// table returns a table with a row for each band, a range of values with equal results.
func (s sweepReport) table() table {
	tb := table{Heads: heads(story.Visible(s.Path), string(checks.LeaseExclusion), string(checks.SectionExclusion), fencingNames[scenarios.Off], fencingNames[scenarios.On]), narrow: true}
	for _, b := range s.Bands {
		if b.Outcome.IsImpossible {
			none := plainCell("n/a")
			tb.add(plainCell(s.label(b)), none, none, none, none)
			continue
		}
		label := s.label(b)
		if b.Outcome.IsStuck {
			label += stuckMark
		}
		tb.add(plainCell(label), outcomeBadges[b.Outcome.Leases].cell(), outcomeBadges[b.Outcome.Sections].cell(), verdictBadges[b.Outcome.Off].cell(), verdictBadges[b.Outcome.On].cell())
	}
	return tb
}

// draw draws the bands of each run over the range. A column shows the worst outcome of its
// values, so that a narrow band can be seen.
func (s sweepReport) draw() string {
	var b strings.Builder
	labelWidth := utf8.RuneCountInString(fencingNames[scenarios.Off])
	width := s.lineWidth() - labelWidth - 5 // the indent, two spaces, and one column at the end
	line := func(label, text string) { fmt.Fprintf(&b, "  %s  %s\n", pad(label, labelWidth), text) }
	for _, fencing := range []string{scenarios.Off, scenarios.On} {
		columns := ""
		for column := range width {
			columns += s.worstIn(column, width, fencing)
		}
		line(fencingNames[fencing], columns)
	}
	from, to := s.Format(s.From), s.Format(s.To)
	line("", from+strings.Repeat(" ", max(width-utf8.RuneCountInString(from+to), 1))+to)
	return b.String()
}

const safeMark, unsafeMark = "─", "█"

// worstIn returns the sign of the worst outcome of a run in one of the columns.
func (s sweepReport) worstIn(column, columns int, fencing string) string {
	width := float64(s.To-s.From) / float64(columns)
	from, to := float64(s.From)+width*float64(column), float64(s.From)+width*float64(column+1)
	sign, rank := s.Palette.faint("·"), 0
	for _, b := range s.Bands {
		// Each band is drawn up to the middle between it and its neighbour. The distance is at
		// most one resolution.
		half := float64(s.Resolution) / 2
		if float64(b.To)+half <= from || float64(b.From)-half >= to || b.Outcome.IsImpossible {
			continue
		}
		verdict := b.Outcome.Off
		if fencing == scenarios.On {
			verdict = b.Outcome.On
		}
		switch {
		case verdict == checks.Unsafe:
			return s.Palette.bad(unsafeMark)
		case verdict == checks.Undecided:
			sign, rank = s.Palette.doubt("?"), 2
		case rank < 1:
			sign, rank = s.Palette.good(safeMark), 1
		}
	}
	return sign
}

// examples says for each band what happens to the data with its first value.
func (s sweepReport) examples() facts {
	var all facts
	for _, b := range s.Bands {
		label := s.Format(b.From)
		if b.Outcome.IsImpossible {
			all = append(all, remarkOn(label, story.Visible(b.Why)))
			continue
		}
		var data []remark
		for _, run := range b.Runs {
			data = append(data, remarkOn(fencingNames[run.Fencing], story.DataSummary(run.History, run.Verdict)))
		}
		for i, r := range append(mergeEqual(data, ""), deviations(b.Runs)...) {
			words := r.Text
			if r.About != "" {
				words = r.About + ": " + words
			}
			row := remark{story.Raw(label), words}
			if i > 0 {
				row.About = ""
			}
			all = append(all, row)
		}
	}
	return all
}

// commands returns the command that runs the first value of each band, and the command that
// repeats the sweep. They are not wrapped, so that they can be copied.
func (s sweepReport) commands() string {
	var lines []string
	for _, b := range s.Bands {
		if !b.Outcome.IsImpossible {
			lines = append(lines, "  "+s.command("run", s.Example(b)))
		}
	}
	lines = append(lines, "  "+s.command("sweep", s.Path+"="+s.Format(s.From)+".."+s.Format(s.To)))
	return strings.Join(lines, "\n") + "\n"
}

// legend explains the drawing and the columns of the table.
func (s sweepReport) legend() string {
	words := fmt.Sprintf("Each column of the drawing shows the worst outcome in its part of the range: %[2]s unsafe before ? unknown before %[1]s safe; · no value is possible. "+
		"In the table, a property is violated if it is violated in either run.", safeMark, unsafeMark)
	if slices.ContainsFunc(s.Bands, func(b whatif.SweepBand) bool { return b.Outcome.IsStuck }) {
		words += " " + stuckLegend
	}
	return words
}

// method says how the bands were found, and what can be missed.
func (s sweepReport) method() string {
	step := max((s.To-s.From)/int64(s.Steps)/s.Resolution, 1) * s.Resolution
	if s.Tried == int((s.To-s.From)/s.Resolution)+1 {
		return fmt.Sprintf("All %d values were tried.", s.Tried)
	}
	return fmt.Sprintf("%d values were tried: about %d at equal distances of %s, and the others to find the borders to within %s. A band that is narrower than %s can be missed if both its neighbours have the same outcome. A larger --steps finds narrower bands.",
		s.Tried, s.Steps+1, s.Format(step), s.Format(s.Resolution), s.Format(step))
}

// A jsonSweep is a sweep in JSON.
type jsonSweep struct {
	Schema    string   `json:"schema"`
	Scenario  string   `json:"scenario"`
	Variant   string   `json:"variant"`
	Lock      string   `json:"lock"`
	Seed      uint64   `json:"seed"`
	Overrides []string `json:"overrides,omitempty"`
	// Path is the place of the value. From, To and Resolution are values as a file has
	// them. Tried is how many values were tried.
	Path       string          `json:"path"`
	From       string          `json:"from"`
	To         string          `json:"to"`
	Resolution string          `json:"resolution"`
	Steps      int             `json:"steps"`
	Tried      int             `json:"tried"`
	Replay     string          `json:"replay"`
	Bands      []jsonSweepBand `json:"bands"`
}

// A jsonSweepBand is a band. If the scenario cannot have the values of the band, Impossible
// says why it cannot have the first of them, and the fields about runs are missing.
type jsonSweepBand struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Off and On are the verdicts without fencing tokens and with them. LeaseExclusion and
	// SectionExclusion are the worst outcomes of these properties in the two runs.
	Off              string         `json:"off,omitempty"`
	On               string         `json:"on,omitempty"`
	LeaseExclusion   checks.Outcome `json:"lease_exclusion,omitempty"`
	SectionExclusion checks.Outcome `json:"section_exclusion,omitempty"`
	// Stuck says that the lock was never granted, or that some client never got its work
	// done.
	Stuck      bool   `json:"stuck,omitempty"`
	Impossible string `json:"impossible,omitempty"`
	Replay     string `json:"replay,omitempty"`
}

func writeSweepJSON(w io.Writer, sweep *whatif.Sweep, o Options) error {
	s := sweepReport{sweep, o}
	out := jsonSweep{
		Schema: sweepSchema, Scenario: s.Scenario.Name, Variant: s.Scenario.Variants[0].Name, Lock: s.Lock, Seed: s.Seed, Overrides: s.Scenario.Overrides,
		Path: s.Path, From: s.Format(s.From), To: s.Format(s.To), Resolution: s.Format(s.Resolution), Steps: s.Steps, Tried: s.Tried,
		Replay: s.command("sweep", s.Path+"="+s.Format(s.From)+".."+s.Format(s.To)),
		Bands:  []jsonSweepBand{},
	}
	for _, b := range s.Bands {
		band := jsonSweepBand{From: s.Format(b.From), To: s.Format(b.To), Impossible: b.Why}
		if !b.Outcome.IsImpossible {
			band.Off, band.On, band.LeaseExclusion, band.SectionExclusion = b.Outcome.Off, b.Outcome.On, b.Outcome.Leases, b.Outcome.Sections
			band.Stuck = b.Outcome.IsStuck
			band.Replay = s.command("run", s.Example(b))
		}
		out.Bands = append(out.Bands, band)
	}
	return encode(w, out)
}
