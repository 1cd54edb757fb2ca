package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

var update = flag.Bool("update", false, "write what the commands in README.md print into it")

const readme = "../../README.md"

// A block of the README stands between two comments: <!-- NAME: ARGUMENT --> and
// <!-- end -->. It is what the command prints, or a scenario that one can run.
var block = regexp.MustCompile("(?s)(<!-- (output|scenario): ([^\n]*) -->\n```[a-z]+\n)(.*?)(```\n<!-- end -->)")

// Markdown that a command prints stands between two comments as it is.
var printedMarkdown = regexp.MustCompile("(?s)(<!-- markdown: ([^\n]*) -->\n)(.*?)(<!-- end -->)")

// inRepository lets the test run commands from where the README says.
func inRepository(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadmeShowsWhatTheCommandPrints(t *testing.T) {
	text := readText(t, readme)
	inRepository(t)
	shown := 0
	now := block.ReplaceAllStringFunc(text, func(s string) string {
		part := block.FindStringSubmatch(s)
		if part[2] != "output" {
			return s
		}
		shown++
		return part[1] + printed(t, part[3]) + part[5]
	})
	now = printedMarkdown.ReplaceAllStringFunc(now, func(s string) string {
		part := printedMarkdown.FindStringSubmatch(s)
		shown++
		return part[1] + "\n" + printed(t, part[2]) + "\n" + part[4]
	})
	if shown < 2 {
		t.Fatal("the README shows no output, or no matrix")
	}
	if now == text {
		return
	}
	if !*update {
		t.Fatal("README.md shows what locksim does not print any more: go test ./cmd/locksim -run Readme -update")
	}
	if err := os.WriteFile(filepath.Base(readme), []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// printed is what a command line prints.
func printed(t *testing.T, args string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := locksim(strings.Fields(args), &stdout, &stderr); status != success {
		t.Fatalf("locksim %s: status %d\n%s", args, status, &stderr)
	}
	return stdout.String()
}

// A long output is shown in parts: <!-- excerpt: COMMAND: HEADING / HEADING -->. A part
// begins with a line that begins or ends with its heading.
var excerpt = regexp.MustCompile("(?s)(<!-- excerpt: ([^\n:]*): ([^\n]*) -->\n```text\n)(.*?)(```\n<!-- end -->)")

func TestReadmeShowsPartsOfWhatTheCommandPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes thousands of worlds")
	}
	text := readText(t, readme)
	shown := 0
	now := excerpt.ReplaceAllStringFunc(text, func(s string) string {
		part := excerpt.FindStringSubmatch(s)
		shown++
		explored := exec.Command("locksim", strings.Fields(part[2])...) // this program, see TestMain
		explored.Dir = t.TempDir()
		var stderr bytes.Buffer
		explored.Stderr = &stderr
		out, err := explored.Output()
		if code := explored.ProcessState.ExitCode(); code != success && code != unexpected || len(out) == 0 {
			t.Fatalf("locksim %s: %v\n%s", part[2], err, &stderr)
		}
		return part[1] + parts(t, string(out), strings.Split(part[3], " / ")) + part[5]
	})
	if shown == 0 {
		t.Fatal("the README shows no part of an output")
	}
	if now == text {
		return
	}
	if !*update {
		t.Fatal("README.md shows what locksim does not print any more: go test ./cmd/locksim -run Readme -update")
	}
	if err := os.WriteFile(readme, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// parts are those parts of an output that have the headings, with a sign where others
// are left out.
func parts(t *testing.T, out string, headings []string) string {
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
		if at > next {
			chosen = append(chosen, "⋮")
		}
		chosen = append(chosen, all[at])
		next = at + 1
	}
	if next < len(all) {
		chosen = append(chosen, "⋮")
	}
	return strings.Join(chosen, "\n\n") + "\n"
}

func TestReadmeScenariosComeToWhatTheyExpect(t *testing.T) {
	found := 0
	for _, part := range block.FindAllStringSubmatch(readText(t, readme), -1) {
		if part[2] != "scenario" {
			continue
		}
		found++
		s, err := scenarios.Parse(part[3], []byte(part[4]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if reports.StandingOf(r) != reports.AsExpected {
			for _, run := range r.Runs {
				t.Errorf("%s, fencing %s: %v", part[3], run.Fencing, run.Differences)
			}
		}
	}
	if found == 0 {
		t.Fatal("the README shows no scenario")
	}
}

func TestReadmeNamesEverything(t *testing.T) {
	text := readText(t, readme)
	named := func(what, name string) {
		t.Helper()
		if !strings.Contains(text, "`"+name) {
			t.Errorf("the README does not mention the %s %q", what, name)
		}
	}
	for _, p := range checks.Properties() {
		named("property", string(p))
	}
	for _, k := range sim.FaultKinds() {
		named("fault", k.Name+": ")
	}
	for _, name := range locks.Names() {
		named("lock", name+"`")
	}
	for _, c := range rootCommand().Commands() {
		if !c.Hidden && !strings.Contains(text, "\nlocksim "+c.Name()) {
			t.Errorf("the README does not mention the command %q", c.Name())
		}
	}
	for _, c := range rootCommand().Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "output" {
				named("flag", "-o")
			} else if f.Name != "help" {
				named("flag", "--"+f.Name)
			}
		})
	}
}

// Every field that a scenario can have is in the README.
func TestReadmeNamesEveryField(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		OneOf      []struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"oneOf"`
	}
	var schema struct {
		object
		Definitions map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(scenarios.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	fields := maps.Clone(schema.Properties)
	for _, d := range schema.Definitions {
		maps.Copy(fields, d.Properties)
		for _, kind := range d.OneOf {
			maps.Copy(fields, kind.Properties)
		}
	}
	if len(fields) < 50 {
		t.Errorf("the schema has only %d fields", len(fields))
	}
	text := readText(t, readme)
	for name := range fields {
		if !regexp.MustCompile("[`{ ]" + name + "[`:]").MatchString(text) {
			t.Errorf("the README does not mention the field %q", name)
		}
	}
}

var (
	points     = regexp.MustCompile("(?s)<!-- points -->(.*?)<!-- end -->")
	pointCells = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	pointNames = strings.NewReplacer("CLIENT", "client-1", "NODE", "redis-1", "PROCESS", "redis-1", "MESSAGE", "client-1's request to storage")
)

func TestReadmePointsAreWhatTheParserReads(t *testing.T) {
	table := points.FindString(readText(t, readme))
	found := 0
	for _, cell := range pointCells.FindAllStringSubmatch(table, -1) {
		for _, point := range strings.Split(strings.Trim(cell[1], "`"), "`, `") {
			found++
			if _, err := sim.ParsePoint(pointNames.Replace(point)); err != nil {
				t.Errorf("%s: %v", point, err)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d points are in the table", found)
	}
}
