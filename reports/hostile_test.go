package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/bands"
	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// taint is a text with markup and control characters of many formats.
const taint = suites.Taint

var (
	longWord = suites.LongWord
	tainted  = suites.TaintedResult
)

// checkers contains, for some formats, a func that checks documents by the rules of the
// format. Other formats are only checked for control characters.
var checkers = map[string]func(*testing.T, string){
	"edn":      ednDocument,
	"github":   githubCommands,
	"html":     htmlDocument,
	"json":     jsonDocument,
	"jsonl":    jsonLines,
	"junit":    xmlDocument,
	"markdown": markdownDocument,
	"mermaid":  mermaidDocument,
	"svg":      svgDocument,
	"trace":    jsonDocument,
}

// A report shows any text as text. The text cannot control the terminal, change the
// direction of writing, or act as markup, a row of a table, a statement or a command.
func TestTaintedTexts(t *testing.T) {
	r := tainted(t)
	// each checks the documents and pages of all formats. The names of its subtests begin with
	// kind.
	each := func(kind string, formats []reports.Format[reports.Results]) {
		for _, f := range formats {
			t.Run(kind+f.Name, func(t *testing.T) {
				results := []*scenarios.Result{r, r}
				if f.Most == 1 {
					results = results[:1]
				}
				var b bytes.Buffer
				if err := f.Write(&b, results, reports.Options{}); err != nil {
					t.Fatal(err)
				}
				check(t, f.Name, b.String())
				if f.Pages == nil {
					return
				}
				for _, p := range f.Pages(results, reports.Options{}) {
					if !fileName.MatchString(p.Name) {
						t.Errorf("a file has the name %q, which is not safe on every system", p.Name)
					}
					check(t, f.Name, string(p.Data))
				}
			})
		}
	}
	each("", reports.Runs.Formats())
	each("explain-", reports.Explanations.Formats())

	one := reports.Cell{Lock: r.Lock, Runs: r.Runs}
	m := &reports.Matrix{Seed: 1, Rows: []reports.Row{
		{Scenario: r.Scenario, Variant: r.Runs[0].Variant, Cells: []reports.Cell{one}},
		{Scenario: r.Scenario, Variant: r.Runs[0].Variant, Cells: []reports.Cell{{Lock: taint, NotApplicable: taint}}},
	}}
	for _, f := range reports.Matrices.Formats() {
		t.Run("matrix-"+f.Name, func(t *testing.T) {
			for _, locks := range [][]string{nil, {taint}} {
				m.Locks = locks
				var b bytes.Buffer
				if err := f.Write(&b, m, reports.Options{}); err != nil {
					t.Fatal(err)
				}
				check(t, f.Name, b.String())
			}
		})
	}

	tally := reports.NewTally([]*scenarios.Scenario{r.Scenario}, []string{taint}, 1)
	tally.Seeds = 1
	tally.Add(0, 0, 1, r.Runs[:2], "")
	for _, f := range reports.Tallies.Formats() {
		t.Run("tally-"+f.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.Write(&b, tally, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			check(t, f.Name, b.String())
		})
	}

	sweep := &whatif.Sweep{
		Scenario: r.Scenario, Path: taint, Range: whatif.Range{From: 1, To: 9, Resolution: 1}, Lock: taint, Steps: 8, Tried: 12,
		Bands: []whatif.SweepBand{
			{Band: bands.Band[whatif.Outcome]{From: 1, To: 5, Outcome: whatif.Outcome{Off: "unsafe", On: "safe"}}, Runs: r.Runs[:2]},
			{Band: bands.Band[whatif.Outcome]{From: 6, To: 9, Outcome: whatif.Outcome{IsImpossible: true}}, Why: taint},
		},
	}
	why := &whatif.Why{
		Given: r.Scenario, Scenario: r.Scenario, Observed: []string{taint}, Lock: taint, Steady: []string{taint},
		Now:   whatif.Outcome{Off: "unsafe", On: "safe"},
		Turns: []whatif.Turn{{Path: taint, Value: taint, From: taint, Outcome: whatif.Outcome{Off: "safe", On: "safe", IsStuck: true}}, {Path: "x", Value: "y", NewFault: &runs.Fault{Fault: sim.Fault{Action: &sim.CrashFault{Process: taint}}}}},
	}
	for _, f := range reports.Whys.Formats() {
		t.Run("why-"+f.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.Write(&b, why, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			check(t, f.Name, b.String())
		})
	}
	side := func(i int) rundiff.Side {
		return rundiff.Side{Result: scenarios.NewResult(r.Scenario, taint, 1, r.Runs[i:i+1]), File: taint}
	}
	for _, f := range reports.Diffs.Formats() {
		t.Run("diff-"+f.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.Write(&b, &rundiff.Diff{Left: side(0), Right: side(1)}, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			check(t, f.Name, b.String())
		})
	}
	for _, f := range reports.Sweeps.Formats() {
		t.Run("sweep-"+f.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.Write(&b, sweep, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			check(t, f.Name, b.String())
		})
	}
}

// fileName matches the names that a file of a report may have.
var fileName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// check checks a document in a format: its characters, and the rules of the format.
func check(t *testing.T, format, document string) {
	t.Helper()
	checkPrintable(t, document)
	if checkFormat := checkers[format]; checkFormat != nil {
		checkFormat(t, document)
	}
}

// checkPrintable fails the test if a document contains characters that control a terminal.
func checkPrintable(t *testing.T, document string) {
	t.Helper()
	if !utf8.ValidString(document) {
		t.Error("the document is not UTF-8")
	}
	for i, c := range document {
		if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("the document contains %U: %q", c, excerpt(document, i))
			return
		}
	}
}

// excerpt returns the bytes of a document around a position.
func excerpt(document string, at int) string {
	return document[max(0, at-60):min(len(document), at+60)]
}

// checkAbsent fails the test if a document contains any of these texts.
func checkAbsent(t *testing.T, document string, markup ...string) {
	t.Helper()
	for _, m := range markup {
		if i := strings.Index(document, m); i >= 0 {
			t.Errorf("the document contains %q: %q", m, excerpt(document, i))
		}
	}
}

var (
	attributeValue = regexp.MustCompile(`="[^"]*"`)
	eventHandler   = regexp.MustCompile(`<[a-zA-Z][^<>]*\son\w+\s*=`)
	scriptLink     = regexp.MustCompile(`(?i)\s(href|src|action|xlink:href)="\s*javascript:`)
)

func htmlDocument(t *testing.T, document string) {
	checkAbsent(t, document, "<script>alert", "<img", "-->", "]]>")
	if handler := eventHandler.FindString(attributeValue.ReplaceAllString(document, `=""`)); handler != "" {
		t.Errorf("a text has become an event handler: %q", handler)
	}
	if link := scriptLink.FindString(document); link != "" {
		t.Errorf("a text has become a link to a script: %q", link)
	}
	if opened, closed := strings.Count(document, "<script"), strings.Count(document, "</script"); opened != closed {
		t.Errorf("%d scripts begin and %d end", opened, closed)
	}
}

func xmlDocument(t *testing.T, document string) {
	decoder := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("the document is not XML: %v: %q", err, excerpt(document, int(decoder.InputOffset())))
			return
		}
		if start, is := token.(xml.StartElement); is && (start.Name.Local == "img" || start.Name.Local == "b") {
			t.Errorf("a text has become the element %s", start.Name.Local)
		}
	}
}

func svgDocument(t *testing.T, document string) {
	xmlDocument(t, document)
	checkAbsent(t, document, "<script>alert", "<img")
}

func jsonDocument(t *testing.T, document string) {
	if err := json.Unmarshal([]byte(document), new(any)); err != nil {
		t.Error(err)
	}
}

func jsonLines(t *testing.T, document string) {
	for line := range strings.Lines(document) {
		jsonDocument(t, line)
	}
}

// ednDocument fails the test if a bracket outside of strings and comments has no matching
// closing bracket.
func ednDocument(t *testing.T, document string) {
	var open []rune
	closes := map[rune]rune{']': '[', '}': '{', ')': '('}
	for i, c := range ednString.ReplaceAllString(ednComment.ReplaceAllString(document, ""), `""`) {
		switch c {
		case '[', '{', '(':
			open = append(open, c)
		case ']', '}', ')':
			if len(open) == 0 || open[len(open)-1] != closes[c] {
				t.Fatalf("a %c has no opening bracket, after %d bytes", c, i)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("these brackets have no closing bracket: %q", open)
	}
}

var ednComment = regexp.MustCompile(`(?m)^;.*$`)

var ednString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// markdownDocument fails the test unless every row of a table has as many cells as the
// table's head, all code blocks are closed, and all markup is the report's own.
func markdownDocument(t *testing.T, document string) {
	cells, fenced := 0, false
	for line := range strings.Lines(document) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
		default:
			checkAbsent(t, activeMarkup(line), "<script", "<img", "[x](", "**_", "`|", "](javascript", "](/x")
			if is := moreThanText.FindString(activeMarkup(line)); is != "" {
				t.Errorf("a text has a meaning in Markdown, %q: %.300s", is, line)
			}
			if strings.HasPrefix(line, "# heading") || strings.HasPrefix(line, "::") {
				t.Errorf("a text has become a line: %s", line)
			}
			if codeInAddress.MatchString(line) {
				t.Errorf("the address of a link begins a code span: %.300s", line)
			}
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells == 0 {
				cells = n
			}
			if n != cells {
				t.Errorf("a row has %d bars, want %d as in the head of the table: %.200s", n, cells, line)
			}
		}
	}
	if fenced {
		t.Error("a code block has no end")
	}
}

// moreThanText matches text to which GitHub gives a meaning: strike-through, a person, an
// issue, an address, a formula, a character entity, an emoji. GitHub does not match across
// the bounds of an HTML element.
var moreThanText = regexp.MustCompile(`(?i)~|@[a-z0-9]|#[0-9]|gh-[0-9]|://|www\.|\$[^<]|&(copy|#)|:tada:`)

// activeMarkup returns the parts of a line of Markdown that can have a meaning: those that
// are not escaped, not code, and not the address of a link.
func activeMarkup(line string) string {
	var b strings.Builder
	line = address.ReplaceAllString(line, "]")
	for line != "" {
		if after, escaped := strings.CutPrefix(line, `\`); escaped {
			_, size := utf8.DecodeRuneInString(after)
			line = after[size:]
			continue
		}
		if fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]; fence != "" {
			line = line[len(fence):]
			code := regexp.MustCompile("^(?:[^`]|`+?[^`])*?[^`]" + fence + "(?:[^`]|$)").FindString(line)
			if code == "" {
				b.WriteString(fence)
				continue
			}
			line = line[strings.LastIndex(code, fence)+len(fence):]
			continue
		}
		b.WriteByte(line[0])
		line = line[1:]
	}
	return b.String()
}

var (
	address       = regexp.MustCompile("\\]\\(<[^<>`]*>\\)")
	codeInAddress = regexp.MustCompile("\\]\\(<[^>]*`")
)

// githubCommands fails the test unless each line is exactly one command. The last line is
// not a command; it contains the counts.
func githubCommands(t *testing.T, document string) {
	for line := range strings.Lines(document) {
		if !githubCommand.MatchString(line) && !githubSummary.MatchString(line) {
			t.Errorf("this line is not a command: %.200q", line)
		}
	}
}

var githubCommand = regexp.MustCompile(`^::(error|warning|notice)( [a-zA-Z]+=[^:,]*(,[a-zA-Z]+=[^:,]*)*)?::[^\r\n]+\n$`)

var githubSummary = regexp.MustCompile(`^[0-9]+ scenarios?: [a-z0-9, ]+\n$`)

// mermaidDocument fails the test unless each line is one statement, and the texts in it
// have no meaning in Mermaid.
func mermaidDocument(t *testing.T, document string) {
	diagrams := []string{document}
	if strings.Contains(document, "```mermaid\n") {
		markdownDocument(t, document)
		diagrams = strings.Split(document, "```mermaid\n")[1:]
	}
	for _, d := range diagrams {
		d, _, _ = strings.Cut(d, "```")
		lines := strings.Split(strings.TrimSuffix(d, "\n"), "\n")
		if lines[0] == "%% generator: locksim" { // the mark of a page, which is a comment in Mermaid
			lines = lines[1:]
		}
		if lines[0] != "sequenceDiagram" {
			t.Errorf("a diagram begins with %q, want sequenceDiagram", lines[0])
		}
		for _, line := range lines[1:] {
			if !mermaidStatement.MatchString(line) {
				t.Errorf("this line is not a statement: %s", line)
			}
		}
	}
}

var mermaidStatement = regexp.MustCompile(`^  (` +
	`(title |accTitle: |accDescr: |(participant|actor) p\d+ as |p\d+(->>|-->>|--x)p\d+: |Note over p\d+(,p\d+)?: )([A-Za-z0-9 .,'()/_-]| ?[^ ]+: |[^\x00-\x7fﬂ¶]|#\d+;|<br/>)+` +
	`|(activate|deactivate) p\d+|rect rgba\([0-9., ]+\)|end)$`)

// A very long word is cut, so that a diagram does not become too wide to draw.
func TestLongWordsAreCut(t *testing.T) {
	r := tainted(t)
	for _, run := range r.Runs {
		for i := range run.History.Trace.Processes {
			p := &run.History.Trace.Processes[i]
			for j := range run.History.Trace.Events {
				if ev := &run.History.Trace.Events[j]; ev.Process == p.Name {
					ev.Process += longWord
				}
			}
			p.Name += longWord
		}
	}
	mermaid, _ := reports.Runs.Lookup("mermaid")
	for _, p := range mermaid.Pages([]*scenarios.Result{r}, reports.Options{}) {
		for line := range strings.Lines(string(p.Data)) {
			if len(line) > 5000 {
				t.Errorf("a statement has %d characters, want at most 5000: %.200s", len(line), line)
			}
		}
	}
}
