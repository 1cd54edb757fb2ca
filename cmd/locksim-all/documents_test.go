package main

import (
	"bytes"
	"encoding"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/quiz"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

var update = flag.Bool("update", false, "update the generated blocks of README.md and docs/")

// root is the path of the repository from this package.
const root = "../.."

// useReadmeCommand makes the rest of the test run the command that README.md builds.
// Otherwise this program would be run, which contains the locks of all libraries.
func useReadmeCommand(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "../locksim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// A document is a text for people, with its path in the repository.
type document struct{ path, text string }

// documents reads README.md and all documents in docs/, with the chapters and the pages of libraries.
func documents(t *testing.T) []document {
	t.Helper()
	return read(t, "README.md", "docs/*.md", "docs/learn/*.md", "docs/libraries/*.md")
}

// read reads the documents whose paths match one of the patterns.
func read(t *testing.T, patterns ...string) []document {
	t.Helper()
	var found []document
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no document %s (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, document{filepath.ToSlash(path), string(text)})
		}
	}
	return found
}

// block matches a generated block of a document. The block begins with the comment <!--
// KIND: ARGUMENT --> and ends with <!-- end -->. Paths in its argument are relative to the
// document.
var block = regexp.MustCompile(`(?s)(<!-- ([a-z ]+?)(?:: ([^\n]*))? -->\n)(.*?)(<!-- end -->)`)

// A blockKind is a kind of generated block.
type blockKind struct {
	// show returns the correct content of a block. argument is the argument of the block,
	// and now is its present content. Some kinds only check the present content, and return
	// it unchanged.
	show func(t *testing.T, argument, now string) string
	// slow means that such blocks are not checked with -short.
	slow bool
}

var blockKinds = map[string]blockKind{
	"markdown":  {show: showMarkdown, slow: true},
	"table":     {show: showTable},
	"excerpt":   {show: showExcerpt, slow: true},
	"file":      {show: showFile},
	"go test":   {show: showGoTest, slow: true},
	"fails":     {show: showFail, slow: true},
	"passes":    {show: showPass, slow: true},
	"output":    {show: showOutput, slow: true},
	"matrix":    {show: showMatrix, slow: true},
	"chapters":  {show: showChapters},
	"next":      {show: showNext},
	"scenario":  {show: checkScenario},
	"points":    {show: checkPoints},
	"kinds":     {show: showKinds},
	"refused":   {show: showRefused, slow: true},
	"formats":   {show: showFormats},
	"questions": {show: showQuestions},
	"stages":    {show: showStages},
	"check":     {show: showLearnCheck, slow: true},
}

// Every generated block in the documents is up to date, whether it shows output, a scenario
// or code.
func TestDocumentsAreUpToDate(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range documents(t) {
		t.Run(d.path, func(t *testing.T) {
			if left := block.ReplaceAllString(d.text, ""); strings.Contains(left, "<!--") {
				_, comment, _ := strings.Cut(left, "<!--")
				comment, _, _ = strings.Cut(comment, "\n")
				t.Errorf("this comment neither begins a block nor ends one: <!--%s", comment)
			}
			if d.path == "README.md" {
				useReadmeCommand(t)
			}
			t.Chdir(filepath.Join(root, filepath.Dir(d.path)))
			now := block.ReplaceAllStringFunc(d.text, func(s string) string {
				part := block.FindStringSubmatch(s)
				kind, known := blockKinds[part[2]]
				seen[part[2]] = true
				switch {
				case strings.Contains(part[4], "<!--"):
					t.Errorf("the block %s has no end", strings.TrimSpace(part[1]))
					return s
				case !known:
					t.Errorf("there is no kind of block called %q", part[2])
					return s
				case kind.slow && testing.Short():
					return s
				}
				return part[1] + kind.show(t, part[3], part[4]) + part[5]
			})
			switch {
			case now == d.text:
			case !*update:
				t.Errorf("the generated blocks are out of date; check them, and update them with go test ./cmd/locksim-all -run Documents -update\n%s", firstDifference(d.text, now))
			default:
				if err := os.WriteFile(filepath.Base(d.path), []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for name := range blockKinds {
		if !seen[name] {
			t.Errorf("no document has a block of the kind %q", name)
		}
	}
}

// firstDifference returns the first line in which two texts differ, as it is in each of them.
func firstDifference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	i := 0
	for i < min(len(a), len(b))-1 && a[i] == b[i] {
		i++
	}
	return "first text:  " + a[i] + "\nsecond text: " + b[i]
}

// fence returns a text as a code block of Markdown.
func fence(language, text string) string { return "```" + language + "\n" + text + "```\n" }

// showMarkdown shows the output of a command that writes Markdown. If the command names no
// file, its links to the scenarios are relative to the top, and not to the folder docs.
func showMarkdown(t *testing.T, argument, _ string) string {
	return "\n" + strings.ReplaceAll(runOutput(t, strings.Fields(argument)...), "](scenarios/", "](../scenarios/") + "\n"
}

// showTable shows only the table with which such an output begins.
func showTable(t *testing.T, argument, _ string) string {
	table, _, _ := strings.Cut(runOutput(t, strings.Fields(argument)...), "\n\n")
	return "\n" + table + "\n\n"
}

// showKinds shows the kinds of events, with their meaning and their fields.
func showKinds(*testing.T, string, string) string {
	var b strings.Builder
	of := trace.Subject("")
	for _, form := range trace.Kinds() {
		if form.Subject != of {
			of = form.Subject
			fmt.Fprintf(&b, "\n%s%s:\n\n| kind | | what happened | fields |\n|---|---|---|---|\n", strings.ToUpper(string(of[:1])), of[1:])
		}
		state := ""
		if form.ChangesState {
			state = "●"
		}
		has := strings.Join(form.Required, " ")
		if len(form.Optional) > 0 {
			has += " (" + strings.Join(form.Optional, " ") + ")"
		}
		means := form.Meaning
		if len(form.Texts) > 0 {
			means += ": " + strings.Join(form.Texts, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", form.Kind, state, means, strings.TrimSpace(has))
	}
	return b.String() + "\n"
}

// showFormats shows the formats of a command's reports.
func showFormats(t *testing.T, command, _ string) string {
	switch command {
	case "run":
		return formatTable(reports.Runs)
	case "explain":
		return formatTable(reports.Explanations)
	case "matrix":
		return formatTable(reports.Matrices)
	case "compare":
		return formatTable(reports.Tallies)
	case "sweep":
		return formatTable(reports.Sweeps)
	case "why":
		return formatTable(reports.Whys)
	case "diff":
		return formatTable(reports.Diffs)
	case "explore":
		return formatTable(reports.Searches)
	}
	t.Errorf("the formats of locksim %s are not known", command)
	return ""
}

// showQuestions shows the questions of locksim ask that are not among the twelve, by topic.
func showQuestions(*testing.T, string, string) string {
	var b strings.Builder
	b.WriteString("\n| topic | question | name |\n|---|---|---|\n")
	for _, topic := range quiz.Topics() {
		for _, item := range topic.Items {
			if item.Twelve > 0 {
				continue
			}
			title := item.Title
			if item.IsMyth {
				title = "People say: “" + strings.TrimSuffix(title, ".") + ".” Is that right?"
			}
			fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", topic.Name, title, item.Name)
		}
	}
	return b.String() + "\n"
}

// formatTable returns a table of the formats of a subject.
func formatTable[S any](subject *reports.Subject[S]) string {
	var b strings.Builder
	b.WriteString("\n| `--format` | for |\n|---|---|\n")
	for _, f := range subject.Formats() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, f.Title)
	}
	return b.String() + "\n"
}

// The schema in docs/trace.md names every field of a trace.
func TestTraceSchemaNamesEveryField(t *testing.T) {
	text := read(t, "docs/trace.md")[0].text
	var check func(of reflect.Type)
	checked := map[reflect.Type]bool{}
	check = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || checked[of] || of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return
		}
		checked[of] = true
		for i := range of.NumField() {
			field := of.Field(i)
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" && !strings.Contains(text, "`"+name+"`") {
				t.Errorf("docs/trace.md does not name the field %s.%s, which is %q in JSON", of.Name(), field.Name, name)
			}
			check(field.Type)
		}
	}
	check(reflect.TypeFor[trace.Trace]())
}

// runOutput runs a command line, which must succeed, and returns the output.
func runOutput(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "locksim", args...) // this program; see TestMain
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("locksim %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// searchOutputs remembers the output of each search by its command line, because a search
// runs thousands of worlds.
var searchOutputs = map[string]string{}

// showExcerpt shows parts of a search's output. The argument is COMMAND: HEADING / HEADING.
// The first line of each part begins or ends with the heading.
func showExcerpt(t *testing.T, argument, _ string) string {
	t.Helper()
	command, headings, _ := strings.Cut(argument, ": ")
	if searchOutputs[command] == "" {
		search := exec.Command("locksim", strings.Fields(command)...)
		search.Dir = t.TempDir()
		var stderr bytes.Buffer
		search.Stderr = &stderr
		out, err := search.Output()
		if code := search.ProcessState.ExitCode(); code != 0 && code != 1 || len(out) == 0 {
			t.Fatalf("locksim %s: %v\n%s", command, err, &stderr)
		}
		searchOutputs[command] = string(out)
	}
	return fence("text", selectParts(t, searchOutputs[command], strings.Split(headings, " / ")))
}

// selectParts returns the parts of an output with the given headings, and marks the places
// where it leaves other parts out.
func selectParts(t *testing.T, out string, headings []string) string {
	t.Helper()
	var all []string
	for paragraph := range strings.SplitSeq(strings.TrimRight(out, "\n"), "\n\n") {
		if n := len(all); n > 0 && strings.HasPrefix(paragraph, " ") {
			all[n-1] += "\n\n" + paragraph
		} else {
			all = append(all, paragraph)
		}
	}
	var chosen []string
	next := 0
	for _, heading := range headings {
		at := slices.IndexFunc(all, func(part string) bool {
			first, _, _ := strings.Cut(part, "\n")
			return strings.HasPrefix(first, heading) || strings.HasSuffix(first, heading)
		})
		if at < next {
			t.Fatalf("the output has no part %q, or has it too early:\n%s", heading, out)
		}
		if at > next && next > 0 {
			chosen = append(chosen, "⋮")
		}
		chosen = append(chosen, all[at])
		next = at + 1
	}
	if next < len(all) && len(headings) > 1 {
		chosen = append(chosen, "⋮")
	}
	return strings.Join(chosen, "\n\n") + "\n"
}

// showFile shows a Go file. The argument is FILE for the whole file, FILE: LINE for the part
// from the first line that begins with LINE, or FILE: LINE … LINE for the part before the
// next line that begins with the second LINE.
func showFile(t *testing.T, argument, _ string) string {
	t.Helper()
	name, begins, _ := strings.Cut(argument, ": ")
	begins, ends, isPart := strings.Cut(begins, " … ")
	code, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index("\n"+string(code), "\n"+begins)
	if at < 0 {
		t.Fatalf("%s has no line that begins with %q", name, begins)
	}
	part := string(code[at:])
	if isPart {
		end := strings.Index(part, "\n"+ends)
		if end < 0 {
			t.Fatalf("%s has no line after %q that begins with %q", name, begins, ends)
		}
		part = strings.TrimRight(part[:end], "\n") + "\n"
	}
	language := "go"
	if filepath.Ext(name) == ".py" {
		language = "python"
	}
	return fence(language, part)
}

// unstable matches what differs from run to run or changes with any edit of the suite:
// seconds and line numbers.
var unstable = regexp.MustCompile(`\([0-9.]+s\)|(?m:\t[0-9.]+s$)|:[0-9]+\b`)

// showGoTest shows the output of go test for a lock that fails. The argument is PACKAGE
// TEST.
func showGoTest(t *testing.T, argument, _ string) string {
	t.Helper()
	pkg, test, _ := strings.Cut(argument, " ")
	out, err := exec.CommandContext(t.Context(), "go", "test", pkg, "-run", test).CombinedOutput()
	if err == nil {
		t.Fatalf("go test passes for a lock that the document shows as broken:\n%s", out)
	}
	return fence("text", unstable.ReplaceAllString(string(out), ""))
}

// checkScenario checks that the runs of a scenario have the results that it expects.
func checkScenario(t *testing.T, name, now string) string {
	t.Helper()
	text, opens := strings.CutPrefix(now, "```yaml\n")
	text, closes := strings.CutSuffix(text, "```\n")
	if !opens || !closes {
		t.Fatalf("the block of the scenario %s is not a code block of YAML", name)
	}
	s, err := scenarios.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if reports.StandingOf(r) != reports.AsExpected {
		for _, run := range r.Runs {
			t.Errorf("%s, fencing %s: the run is not as expected: %v", name, run.Fencing, run.Differences)
		}
	}
	return now
}

var (
	pointCells = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	pointNames = strings.NewReplacer("CLIENT", "client-1", "NODE", "redis-1", "PROCESS", "redis-1", "MESSAGE", "client-1's request to storage")
)

// checkPoints checks that the parser accepts all points in a table.
func checkPoints(t *testing.T, _, now string) string {
	t.Helper()
	found := 0
	for _, cell := range pointCells.FindAllStringSubmatch(now, -1) {
		for _, point := range strings.Split(strings.Trim(cell[1], "`"), "`, `") {
			found++
			if _, err := trace.ParsePoint(pointNames.Replace(point)); err != nil {
				t.Errorf("the parser refuses the point %s of the table: %v", point, err)
			}
		}
	}
	if found < 20 {
		t.Errorf("the table has only %d points, want at least 20", found)
	}
	return now
}
