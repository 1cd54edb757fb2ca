package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Diffs.Register(Format[*rundiff.Diff]{Name: "text", Title: "a terminal", Write: writeDiffText})
	Diffs.Register(Format[*rundiff.Diff]{Name: "markdown", Title: "a document", Write: writeDiffMarkdown})
	Diffs.Register(Format[*rundiff.Diff]{Name: "json", Title: "programs: one document, schema " + diffSchema, Write: writeDiffJSON})
}

// A diffReport is a comparison of two runs with the options of its report.
type diffReport struct {
	*rundiff.Diff
	Options
	labels [2]string
	steps  diffSteps
}

func newDiffReport(d *rundiff.Diff, o Options) diffReport {
	return diffReport{d, o, diffLabels(d, o), newDiffSteps(d, o.Messages)}
}

func writeDiffText(w io.Writer, d *rundiff.Diff, o Options) error {
	return writeTextDocument(w, newDiffReport(d, o).document(), o)
}

func writeDiffMarkdown(w io.Writer, d *rundiff.Diff, o Options) error {
	o = o.forPublication()
	return writeMarkdownDocument(w, newDiffReport(d, o).document())
}

// document returns the comparison as a document.
func (d diffReport) document() *document {
	out := &document{title: d.title()}
	differing, equal := d.splitSettings()
	out.add("What differs in the settings", differing)
	out.add("What is the same in both", equal)
	out.add("Where the runs part", paragraph(d.steps.commonPart()), d.steps.table(d.labels), paragraph(d.steps.legend()))
	out.add("The results", d.results(), paragraph(d.equalOutcomes()), facts(d.data()))
	out.add("Commands that show each run", figure(d.commands()))
	return out
}

// title says which runs are compared.
func (d diffReport) title() string {
	left, right := d.Left, d.Right
	names := story.Visible(left.Scenario.Name)
	if left.Run().Variant.Name == right.Run().Variant.Name {
		names = diffName(left)
	}
	if left.Scenario.Name != right.Scenario.Name {
		return diffName(left) + " and " + diffName(right) + ", side by side"
	}
	return names + ": " + d.labels[0] + " and " + d.labels[1] + ", side by side"
}

// diffName returns the name of a side's scenario and, if it has one, of its variant.
func diffName(s rundiff.Side) string {
	return Row{Scenario: s.Scenario, Variant: s.Run().Variant}.name()
}

// diffLabels names the two sides by what distinguishes them: their files or scenarios, or else
// their settings.
func diffLabels(d *rundiff.Diff, o Options) [2]string {
	both := func(describe func(rundiff.Side) string) [2]string {
		return [2]string{story.Visible(describe(d.Left)), story.Visible(describe(d.Right))}
	}
	for _, label := range [][2]string{
		both(func(s rundiff.Side) string { return cmp.Or(o.fileOfTrace(s), s.Scenario.Name) }),
		both(func(s rundiff.Side) string { return o.operandFor(s.Scenario) }),
	} {
		if label[0] != label[1] {
			return label
		}
	}
	var parts [2][]string
	for _, part := range [][2]string{
		both(func(s rundiff.Side) string { return s.Run().Variant.Name }),
		both(func(s rundiff.Side) string { return s.Run().Lock }),
		both(func(s rundiff.Side) string { return fmt.Sprint("seed ", s.Seed) }),
		both(func(s rundiff.Side) string { return strings.Join(s.Scenario.Overrides, ", ") }),
		both(func(s rundiff.Side) string { return fencingNames[s.Run().Fencing] }),
	} {
		for i, text := range part {
			if part[0] != part[1] && text != "" {
				parts[i] = append(parts[i], text)
			}
		}
	}
	labels := [2]string{strings.Join(parts[0], ", "), strings.Join(parts[1], ", ")}
	if labels == [2]string{} {
		return [2]string{"left", "right"}
	}
	return [2]string{cmp.Or(labels[0], "as it is"), cmp.Or(labels[1], "as it is")}
}

// fileOfTrace returns the file of the saved trace that has the run of a side; "" if no file
// has it.
func (o Options) fileOfTrace(s rundiff.Side) string {
	switch {
	case s.File == "-":
		return "standard input"
	case o.published:
		return publicFile(s.File)
	}
	return s.File
}

// A diffSetting is one setting of the two runs. A side without it has "".
type diffSetting struct {
	name   string
	values [2]string
}

func (s diffSetting) differs() bool { return s.values[0] != s.values[1] }

// settings lists the settings of both runs.
func (d diffReport) settings() []diffSetting {
	var all []diffSetting
	for side, s := range []rundiff.Side{d.Left, d.Right} {
		run, last := s.Run(), -1
		rows := []remark{
			remarkOn("trace", d.fileOfTrace(s)), remarkOn("scenario", s.Scenario.Name), remarkOn("variant", run.Variant.Name),
			remarkOn("seed", fmt.Sprint(s.Seed)), remarkOn("storage", fencingNames[run.Fencing]),
		}
		for _, row := range append(rows, describeSetup(run)...) {
			i := last // a remark without a label continues the one before
			if row.About != "" {
				i = slices.IndexFunc(all, func(o diffSetting) bool { return o.name == row.About.String() })
			}
			if i < 0 {
				i = last + 1
				all = slices.Insert(all, i, diffSetting{name: row.About.String()})
			}
			value := &all[i].values[side]
			if *value != "" {
				*value += "; "
			}
			*value += row.Text.String()
			last = i
		}
	}
	return slices.DeleteFunc(all, func(s diffSetting) bool { return s.values == [2]string{} })
}

// splitSettings returns the settings that differ as a table, and the others as facts.
func (d diffReport) splitSettings() (differing table, equal facts) {
	differing = table{wraps: true, Heads: heads("setting", d.labels[0], d.labels[1])}
	for _, s := range d.settings() {
		if s.differs() {
			differing.add(plainCell(s.name), plainCell(cmp.Or(s.values[0], "–")), plainCell(cmp.Or(s.values[1], "–")))
		} else if s.name != "scenario" && s.name != "variant" { // the title has them
			equal = append(equal, remarkOn(s.name, s.values[0]))
		}
	}
	if differing.empty() {
		return table{}, equal
	}
	return differing, equal
}

// differingProperties returns the properties whose outcomes differ.
func (d diffReport) differingProperties() []checks.Property {
	left, right := d.Left.Run(), d.Right.Run()
	return slices.DeleteFunc(propertiesOf([]scenarios.RunResult{left, right}), func(p checks.Property) bool {
		return left.Verdict.Finding(p).Outcome == right.Verdict.Finding(p).Outcome
	})
}

// results returns a table with a row for each property whose outcomes differ, and with the
// verdicts.
func (d diffReport) results() table {
	left, right := d.Left.Run().Verdict, d.Right.Run().Verdict
	out := table{wraps: true, Heads: heads("property", d.labels[0], d.labels[1])}
	for _, p := range d.differingProperties() {
		out.add(plainCell(string(p)), outcomeBadges[left.Finding(p).Outcome].cell(), outcomeBadges[right.Finding(p).Outcome].cell())
	}
	verdicts := []tableCell{plainCell("verdict"), verdictBadges[left.Verdict].cell(), verdictBadges[right.Verdict].cell()}
	out.Rows = append(out.Rows, tableRow{Cells: verdicts, ruled: !out.empty()})
	return out
}

// equalOutcomes says which properties have the same outcome in both runs.
func (d diffReport) equalOutcomes() string {
	left, right := d.Left.Run(), d.Right.Run()
	differing := d.differingProperties()
	var equal []string
	for _, p := range propertiesOf([]scenarios.RunResult{left, right}) {
		if o := left.Verdict.Finding(p).Outcome; !slices.Contains(differing, p) && o != checks.NotApplicable {
			equal = append(equal, string(p)+" "+outcomeClauses[o])
		}
	}
	if len(equal) == 0 {
		return ""
	}
	return "The same in both: " + strings.Join(equal, ", ") + "."
}

// data says what happened to the data in each run.
func (d diffReport) data() []remark {
	var rows []remark
	for i, s := range []rundiff.Side{d.Left, d.Right} {
		text := story.DataSummary(s.Run().History, s.Run().Verdict)
		if reasons := complaintsOfRun(s.Run()); s.Run().Verdict.Verdict == checks.Undecided {
			text = "Unknown: " + story.Raw(strings.Join(visibleTexts(reasons), "; ")) + "."
		}
		for _, missing := range deviations(s.Runs) {
			text += " Not reached: " + missing.Text
		}
		rows = append(rows, remarkOn(d.labels[i], text))
	}
	return mergeEqual(rows, "the data")
}

// commands returns the command that shows each run. They are not wrapped, so that they can be
// copied.
func (d diffReport) commands() string {
	return "  " + d.command(d.Left) + "\n  " + d.command(d.Right) + "\n"
}

// command returns the command that shows the run of a side. For a saved run the command reports
// the trace again, because the scenario's file may have been changed since.
func (d diffReport) command(s rundiff.Side) string {
	if s.File == "" {
		return replay(s.Result, d.Options)
	}
	file := s.File
	if d.published {
		file = publicFile(file)
	}
	line := "locksim report " + file
	if file != "-" {
		line = "locksim report " + Operand(file)
	}
	if name := s.Run().Variant.Name; name != "" {
		line += " --variant " + story.ShellWord(name)
	}
	return line + " --fencing " + s.Run().Fencing
}
