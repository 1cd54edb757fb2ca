package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/chapters"
	"github.com/locksim/locksim/internal/quiz"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// An outputPart is a part of the output of locksim run that a chapter can show: the paragraphs
// whose first line matches.
type outputPart struct {
	name  string
	first *regexp.Regexp
}

var outputParts = []outputPart{
	{"setting", regexp.MustCompile(`^  lock  `)},
	{"timeline", regexp.MustCompile(`^ +(?:[0-9]+\.[0-9]+s|⋮)  |^  (?:without|with) fencing$`)},
	{"verdict", regexp.MustCompile(`^  property  `)},
	{"findings", regexp.MustCompile(`^  (?:the data|the lock|without fencing|with fencing)(?:, [a-z ]+)?  +\S`)},
	{"side by side", regexp.MustCompile(`^  side by side  `)},
	{"measures", regexp.MustCompile(`^  (?:` + strings.Join(checks.MeasureNames(), "|") + `)  `)},
}

// showOutput shows parts of the output of locksim run, after the command. The argument is
// ARGUMENTS: PART, PART. Of a table of properties it shows the rows that have a violation.
func showOutput(t *testing.T, argument, _ string) string {
	t.Helper()
	arguments, parts, _ := strings.Cut(argument, ": ")
	wanted := strings.Split(parts, ", ")
	shown := []string{"$ locksim run " + arguments}
	found := map[string]bool{}
	// A changed run may end otherwise than its scenario expects, which is status 1.
	out, err := exec.CommandContext(t.Context(), "locksim", strings.Fields("run "+arguments)...).Output()
	if status := new(exec.ExitError); err != nil && (!errors.As(err, &status) || status.ExitCode() != 1) {
		t.Fatalf("locksim run %s: %v", arguments, err)
	}
	for paragraph := range strings.SplitSeq(strings.TrimRight(string(out), "\n"), "\n\n") {
		first, _, _ := strings.Cut(paragraph, "\n")
		i := slices.IndexFunc(outputParts, func(p outputPart) bool { return p.first.MatchString(first) })
		if i < 0 || !slices.Contains(wanted, outputParts[i].name) {
			continue
		}
		if name := outputParts[i].name; name == "verdict" || name == "side by side" {
			paragraph = keepViolations(paragraph)
		}
		shown = append(shown, paragraph)
		found[outputParts[i].name] = true
	}
	for _, name := range wanted {
		if !found[name] {
			t.Errorf("the output of locksim run %s has no part %q", arguments, name)
		}
	}
	return fence("text", strings.Join(shown, "\n\n")+"\n")
}

// keepViolations removes the rows without a violation from a table of properties, but keeps the
// verdicts, which follow the second line across the table.
func keepViolations(table string) string {
	var kept []string
	lines := 0
	for i, row := range strings.Split(table, "\n") {
		isLine := strings.HasPrefix(row, " ─")
		if isLine {
			lines++
		}
		isDouble := isLine && len(kept) > 0 && strings.HasPrefix(kept[len(kept)-1], " ─")
		if i == 0 || isLine && !isDouble || !isLine && (lines == 2 || strings.Contains(row, "✗")) {
			kept = append(kept, row)
		}
	}
	return strings.Join(kept, "\n")
}

// packageOutputs remembers the output of go test by package, because a chapter shows several tests
// of one package.
var packageOutputs = map[string]string{}

// testPackage runs all tests of a package, one of which is the named one. It returns what they
// print, without what differs from run to run. Some of the tests fail.
func testPackage(t *testing.T, pkg, test string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(file string) bool {
		code, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(code), "\nfunc "+test+"(")
	}) {
		t.Fatalf("%s has no test %s", pkg, test)
	}
	if packageOutputs[pkg] == "" {
		out, err := exec.CommandContext(t.Context(), "go", "test", pkg).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: ") {
			t.Fatalf("go test %s: no test fails, or none runs (%v):\n%s", pkg, err, out)
		}
		packageOutputs[pkg] = unstable.ReplaceAllString(string(out), "")
	}
	return packageOutputs[pkg]
}

// showFail shows what go test prints for the test of a lock that is wrong. The argument is PACKAGE
// TEST.
func showFail(t *testing.T, argument, _ string) string {
	t.Helper()
	pkg, test, _ := strings.Cut(argument, " ")
	out := testPackage(t, pkg, test)
	_, after, failed := strings.Cut(out, "--- FAIL: "+test+" ")
	if !failed {
		t.Fatalf("the test %s of %s passes, and a chapter shows it as failing", test, pkg)
	}
	report, _, _ := strings.Cut(after, "\n--- ")
	report, _, _ = strings.Cut(report, "\nFAIL\n")
	var lines []string
	for line := range strings.SplitSeq(report, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return fence("text", "$ go test ./"+strings.TrimLeft(pkg, "./")+" -run '^"+test+"$'\n--- FAIL: "+test+strings.Join(lines, "\n")+"\n")
}

// showPass checks that the test of a right lock passes, and shows the command. The argument is
// PACKAGE TEST.
func showPass(t *testing.T, argument, _ string) string {
	t.Helper()
	pkg, test, _ := strings.Cut(argument, " ")
	if strings.Contains(testPackage(t, pkg, test), "--- FAIL: "+test+" ") {
		t.Fatalf("the test %s of %s fails, and a chapter shows it as passing", test, pkg)
	}
	return fence("text", "$ go test ./"+strings.TrimLeft(pkg, "./")+" -run '^"+test+"$'\nok\n")
}

// groupRow matches a row of a matrix that is the heading of a group.
var groupRow = regexp.MustCompile(`(?m)^\| \*\*[^|]*\*\*[ |]*\n`)

// showMatrix shows the table of locksim matrix, without its legend and the headings of groups. Its
// links are as seen from docs/learn.
func showMatrix(t *testing.T, argument, _ string) string {
	t.Helper()
	table, _, _ := strings.Cut(runOutput(t, strings.Fields("matrix "+argument+" --format markdown")...), "\n\n")
	table = groupRow.ReplaceAllString(table, "")
	return fence("sh", "locksim matrix "+argument+"\n") + "\n" + strings.ReplaceAll(table, "](scenarios/", "](../../scenarios/") + "\n\n"
}

// showChapters shows the chapters as a table.
func showChapters(*testing.T, string, string) string {
	var b strings.Builder
	b.WriteString("\n| | chapter | what it says |\n|---|---|---|\n")
	for _, c := range chapters.All() {
		fmt.Fprintf(&b, "| %d | [%s](%s) | %s |\n", c.Number, c.Title, c.File(), c.Summary)
	}
	return b.String() + "\n"
}

// showNext shows how to continue after a chapter: the questions that belong to it, and the next
// chapter. The argument is NUMBER: QUESTION, QUESTION.
func showNext(t *testing.T, argument, _ string) string {
	t.Helper()
	number, names, _ := strings.Cut(argument, ": ")
	var b strings.Builder
	b.WriteString("\nThese questions belong to this chapter. They ask for your forecast, and grade it:\n\n")
	for name := range strings.SplitSeq(names, ", ") {
		item, _, ok := quiz.FindItem(name)
		if !ok {
			t.Fatalf("there is no question %q", name)
		}
		title := item.Title
		if item.IsMyth {
			title = "People say: “" + strings.TrimSuffix(title, ".") + ".” Is that right?"
		}
		fmt.Fprintf(&b, "- `locksim ask %s`: %s\n", name, title)
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	next, ok := chapters.Find(strconv.Itoa(n + 1))
	if !ok {
		b.WriteString("\nThis was the last chapter. `locksim ask` asks all questions, and `locksim new lock DIR` writes a lock for you to change.\n\n[All chapters](README.md)\n\n")
		return b.String()
	}
	fmt.Fprintf(&b, "\nThe next chapter, *%[2]s*, is `locksim learn %[1]d`.\n\n[All chapters](README.md) · next: [%[1]d. %[2]s](%[3]s)\n\n", next.Number, next.Title, next.File())
	return b.String()
}

var (
	forecastPattern = regexp.MustCompile(`(?m)^\*\*What do you expect\?\*\*`)
	runPattern      = regexp.MustCompile(`(?m)^<!-- (?:output|matrix|fails): `)
	shellPattern    = regexp.MustCompile("(?s)```sh\n(.*?)```")
	askPattern      = regexp.MustCompile("locksim ask ([a-z-]+)")
	namePattern     = regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)+)`")
)

// Each chapter has the same parts, in the same order: what the reader will be able to answer, a
// forecast before the first run of each section, commands to try, and what the reader knows now.
func TestChaptersAreComplete(t *testing.T) {
	for _, c := range chapters.All() {
		t.Run(c.File(), func(t *testing.T) {
			sections := regexp.MustCompile(`(?m)^## `).Split(c.Markdown, -1)
			if n := strings.Count(sections[0], "\n- "); !strings.Contains(sections[0], "After this chapter you can answer:") || n != 3 {
				t.Errorf("the chapter does not begin with three questions that it answers, but with %d", n)
			}
			var titles []string
			for _, s := range sections[1:] {
				title, text, _ := strings.Cut(s, "\n")
				titles = append(titles, title)
				run := runPattern.FindStringIndex(text)
				if run != nil && !forecastPattern.MatchString(text[:run[0]]) {
					t.Errorf("the section %q shows a run before it asks for a forecast", title)
				}
				if items := strings.Count(text, "\n- "); title == "What you know now" && items != 3 {
					t.Errorf("the section %q has %d items, want 3", title, items)
				}
			}
			if end := []string{"Change it and see", "What you know now", "Next"}; len(titles) < 5 || !slices.Equal(titles[len(titles)-3:], end) {
				t.Errorf("the chapter has the sections %q; the last ones must be %q", titles, end)
			}
			words := 0
			passages, err := markdownPassages(c.File(), []byte(c.Markdown))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range passages {
				words += len(strings.Fields(p.text))
			}
			if words < 400 || words > 1000 {
				t.Errorf("the chapter has %d words, want 400 to 1000", words)
			}
		})
	}
}

// Each question belongs to a chapter, and what a chapter names exists.
func TestChaptersNameWhatExists(t *testing.T) {
	var asked, known []string
	for _, s := range scenarios.Embedded() {
		known = append(known, s.Name)
		for _, v := range s.Variants {
			known = append(known, v.Name)
		}
	}
	for _, topic := range quiz.Topics() {
		for _, item := range topic.Items {
			asked = append(asked, item.Name)
		}
	}
	known = append(append(known, checks.MeasureNames()...), locks.Names()...)
	process := regexp.MustCompile(`^(client|redis|storage)-[0-9]$`)
	found := map[string]bool{}
	for _, c := range chapters.All() {
		for _, m := range askPattern.FindAllStringSubmatch(c.Markdown, -1) {
			found[m[1]] = true
			if !slices.Contains(asked, m[1]) {
				t.Errorf("%s names the question %s, which does not exist", c.File(), m[1])
			}
		}
		for _, m := range namePattern.FindAllStringSubmatch(block.ReplaceAllString(c.Markdown, ""), -1) {
			if !slices.Contains(known, m[1]) && !process.MatchString(m[1]) {
				t.Errorf("%s names %s, which is no scenario, variant, lock or measure", c.File(), m[1])
			}
		}
	}
	for _, name := range asked {
		if !found[name] {
			t.Errorf("no chapter names the question %s", name)
		}
	}
}

// The commands that a chapter offers run.
func TestCommandsOfChaptersRun(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs dozens of scenarios")
	}
	ran := 0
	for _, c := range chapters.All() {
		for _, m := range shellPattern.FindAllStringSubmatch(block.ReplaceAllString(c.Markdown, ""), -1) {
			for line := range strings.Lines(m[1]) {
				line = strings.TrimSpace(line)
				args, isOurs := strings.CutPrefix(line, "locksim ")
				if !isOurs {
					t.Errorf("%s: the command %q is not a locksim command", c.File(), line)
				}
				if strings.HasPrefix(args, "explore ") {
					continue // a search of many seconds; other tests run it
				}
				ran++
				// A changed run may end otherwise than its scenario expects, which is status 1.
				cmd := exec.CommandContext(t.Context(), "locksim", strings.Fields(args)...)
				cmd.Dir = t.TempDir()
				if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 {
					t.Errorf("%s: %s: %v\n%s", c.File(), line, err, out)
				}
			}
		}
	}
	if ran < 30 {
		t.Errorf("only %d commands were run", ran)
	}
}
