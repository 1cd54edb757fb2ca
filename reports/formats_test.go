package reports_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// calm is a scenario whose runs are as expected.
const calm = `title: Nothing happens
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients:
  client-1: {}
expect:
  off: {verdict: safe, violated: []}
  on: {verdict: safe, violated: []}
`

// surprising is a scenario that expects a pause without fencing to be safe, which it is
// not.
const surprising = `title: The work takes longer than the lock
assumption: process
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients:
  client-1: {works-until: client-2 released}
  client-2: {starts: client-1's keys expired}
expect:
  off:
    verdict: safe
    violated: [section-exclusion]
  on: {verdict: safe, violated: [section-exclusion]}
`

// unseen is a scenario with a witness that is never observed.
const unseen = `title: Nobody crashes
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients:
  client-1: {}
witnesses:
  - client-1 crashed
variants:
  waits:
    expect: {off: {verdict: safe, violated: []}, on: {verdict: safe, violated: []}}
  hopes:
    expect:
      on: {verdict: safe, violated: []}
`

// silent is a scenario without an expectation.
const silent = `title: Whatever happens
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients:
  client-1: {}
`

// runText runs a scenario that is given as text.
func runText(t *testing.T, file, text string) *scenarios.Result {
	t.Helper()
	s, err := scenarios.Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// writtenIn returns a report about results in a format.
func writtenIn(t *testing.T, format string, o reports.Options, results ...*scenarios.Result) string {
	t.Helper()
	f, ok := reports.Runs.Lookup(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var b strings.Builder
	if err := f.Write(&b, results, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Reports in the formats for programs are correct, for a scenario that is as expected and
// for one that is not.
func TestFormatsForPrograms(t *testing.T) {
	for _, test := range []struct{ format, ending string }{
		{"edn", "edn"}, {"github", "github.txt"}, {"jsonl", "jsonl"}, {"junit", "junit.xml"}, {"markdown", "md"},
	} {
		for _, r := range []*scenarios.Result{runScenario(t, "gc-pause"), runText(t, "tests/surprising.yaml", surprising)} {
			file := filepath.Join("testdata", "formats", r.Scenario.Name+"."+test.ending)
			got := writtenIn(t, test.format, reports.Options{}, r)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test ./reports -run TestFormatsForPrograms -update writes it)", err)
			}
			if got != string(want) {
				t.Errorf("the report differs from %s; if it should, run go test ./reports -run TestFormatsForPrograms -update, and read the difference\n%s", file, got)
			}
		}
	}
}

// oneOfEachStanding returns the results of four scenarios, one with each standing.
func oneOfEachStanding(t *testing.T) []*scenarios.Result {
	return []*scenarios.Result{runText(t, "calm.yaml", calm), runText(t, "unseen.yaml", unseen), runText(t, "silent.yaml", silent), runText(t, "surprising.yaml", surprising)}
}

func TestJUnit(t *testing.T) {
	var report struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
			Cases []struct {
				Class   string   `xml:"classname,attr"`
				Name    string   `xml:"name,attr"`
				Line    int      `xml:"line,attr"`
				Failure *trouble `xml:"failure"`
				Error   *trouble `xml:"error"`
				Skipped *trouble `xml:"skipped"`
				Out     string   `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(writtenIn(t, "junit", reports.Options{}, oneOfEachStanding(t)...)), &report); err != nil {
		t.Fatal(err)
	}
	var got []string
	counts := map[string]int{}
	for _, s := range report.Suites {
		if s.Tests != len(s.Cases) {
			t.Errorf("the suite %s says that it has %d cases, but it has %d", s.Name, s.Tests, len(s.Cases))
		}
		for _, c := range s.Cases {
			result := "passed"
			for kind, trouble := range map[string]*trouble{"failure": c.Failure, "error": c.Error, "skipped": c.Skipped} {
				if trouble != nil {
					result = kind
					if trouble.Message == "" || kind != "skipped" && !strings.Contains(trouble.Text, "\nreplay: locksim run ") {
						t.Errorf("%s, %s: the %s lacks a message or a replay line: %+v", s.Name, c.Name, kind, *trouble)
					}
				}
			}
			counts[result]++
			if c.Class != "locksim."+s.Name || !strings.HasPrefix(c.Out, "verdict: ") {
				t.Errorf("%s, %s: the class is %s and the output %q, want the class locksim.SUITE and an output that begins with the verdict", s.Name, c.Name, c.Class, c.Out)
			}
			got = append(got, fmt.Sprintf("%s %d %s: %s", s.Name, c.Line, c.Name, result))
		}
	}
	want := []string{
		"calm 6 without fencing: passed",
		"calm 7 with fencing: passed",
		"unseen 9 waits, without fencing: error",
		"unseen 9 waits, with fencing: error",
		"unseen 11 hopes, without fencing: error", // it is an error although nothing is expected of this run
		"unseen 12 hopes, with fencing: error",
		"silent 1 without fencing: skipped",
		"silent 1 with fencing: skipped",
		"surprising 8 without fencing: failure",
		"surprising 11 with fencing: passed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the test cases are:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if report.Tests != len(want) || report.Failures != counts["failure"] || report.Errors != counts["error"] || report.Skipped != counts["skipped"] {
		t.Errorf("the report counts %d tests, %d failures, %d errors and %d skipped, but it has %v", report.Tests, report.Failures, report.Errors, report.Skipped, counts)
	}
}

// trouble is the element of a test case that has not passed.
type trouble struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func TestJSONLines(t *testing.T) {
	var got []string
	for line := range strings.Lines(writtenIn(t, "jsonl", reports.Options{}, oneOfEachStanding(t)...)) {
		var run struct {
			Schema, Scenario, File, Variant, Fencing, Verdict, Replay, Lock string
			Seed                                                            int
			AsExpected                                                      *bool `json:"as_expected"`
			Properties                                                      map[string]string
			Hash                                                            string `json:"trace_hash"`
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		if run.Schema != "locksim/run/v1" || run.Seed != 1 || run.Lock != "redlock" || run.File == "" || run.Replay == "" || run.Hash == "" || len(run.Properties) != len(checks.Properties())-1-len(checks.PropertiesOf(checks.SubjectMisconduct)) {
			t.Errorf("this line lacks a field, or has a wrong one: %s", line)
		}
		expected := "null"
		if run.AsExpected != nil {
			expected = fmt.Sprint(*run.AsExpected)
		}
		got = append(got, strings.Join([]string{run.Scenario, run.Variant, run.Fencing, run.Verdict, expected}, " "))
	}
	want := []string{
		"calm  off safe true", "calm  on safe true",
		"unseen waits off unknown false", "unseen waits on unknown false",
		"unseen hopes off unknown null", "unseen hopes on unknown false",
		"silent  off safe null", "silent  on safe null",
		"surprising  off unsafe false", "surprising  on safe true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the lines are:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGitHub(t *testing.T) {
	var got []string
	for line := range strings.Lines(writtenIn(t, "github", reports.Options{}, oneOfEachStanding(t)...)) {
		properties, message, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "::"), "::")
		if strings.HasPrefix(properties, "error") && !strings.Contains(message, "%0Areplay: locksim run ") {
			t.Errorf("an error has no replay line: %s", line)
		}
		got = append(got, properties)
	}
	want := []string{
		"error file=unseen.yaml,line=9,title=unseen%2C waits%2C without fencing%3A it is unknown whether it is as expected",
		"error file=unseen.yaml,line=9,title=unseen%2C waits%2C with fencing%3A it is unknown whether it is as expected",
		"error file=unseen.yaml,line=11,title=unseen%2C hopes%2C without fencing%3A the verdict is unknown; the scenario has no expectation for the lock redlock",
		"error file=unseen.yaml,line=12,title=unseen%2C hopes%2C with fencing%3A it is unknown whether it is as expected",
		"notice file=silent.yaml,line=1,title=silent%2C nothing is checked",
		"error file=surprising.yaml,line=8,title=surprising%2C without fencing%3A not as expected",
		"4 scenarios: 1 as expected, 1 not as expected, 1 unknown, 1 without an expectation for this lock",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the annotations are:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// If the command line names a scenario by another name than its file, that file may not be
// in the repository. GitHub then cannot show a line in it.
func TestGitHubNamesOnlyFilesThatAreGiven(t *testing.T) {
	r := runText(t, "./tests/surprising.yaml", surprising)
	for _, test := range []struct {
		argument, want string
	}{
		{"./tests/surprising.yaml", "::error file=tests/surprising.yaml,line=8,title=surprising%2C "},
		{"surprising", "::error title=surprising%2C "},
	} {
		o := reports.Options{Arguments: map[*scenarios.Scenario]string{r.Scenario: test.argument}}
		if got := writtenIn(t, "github", o, r); !strings.HasPrefix(got, test.want) {
			t.Errorf("a scenario that is named as %s: the annotation is %.80s…, want %s", test.argument, got, test.want)
		}
	}
	o := reports.Options{Traces: map[*scenarios.Scenario]string{r.Scenario: "trace.json"}}
	if got := writtenIn(t, "github", o, r); !strings.HasPrefix(got, "::error title=") || !strings.Contains(got, "%0Areplay: locksim report trace.json\n") {
		t.Errorf("a scenario from a saved trace: the annotation is %s", got)
	}
}

func TestMarkdownOfRuns(t *testing.T) {
	few := writtenIn(t, "markdown", reports.Options{}, oneOfEachStanding(t)...)
	order := []string{
		"## locksim: 4 scenarios: 1 as expected, 1 not as expected, 1 unknown, 1 without an expectation for this lock\n",
		"| ? | [unseen, waits](unseen.yaml) | | unknown | unknown | without fencing: the run is inconclusive: the witness \"client-1 crashed\" did not happen<br>with fencing: ",
		"| ✗ | [surprising](surprising.yaml) | process | **unsafe** | safe | without fencing: the verdict is unsafe, expected safe, and 4 more |\n",
		"\n### ? unseen, waits: Nobody crashes\n",
		"\n### ✗ surprising: The work takes longer than the lock\n",
		"\n- **without fencing**: the verdict is unsafe, expected safe\n",
		"\nWhat happened:\n\n- **without fencing**: client-1's write of x",
		"\n```sh\nlocksim run surprising.yaml --seed 1\n```\n",
		"| ✓ | [calm](calm.yaml) | | safe | safe | |\n",
		"| – | [silent](silent.yaml) | | safe | safe | |\n",
	}
	rest := few
	for _, part := range order {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is not there, or not in its place, in\n%s", part, few)
		}
		rest = after
	}
	if strings.Contains(few, "<details>") || strings.Contains(few, "| lease-exclusion |") {
		t.Errorf("the report on a few scenarios folds some of them, or shows all their properties:\n%s", few)
	}
	many := writtenIn(t, "markdown", reports.Options{}, append(slices.Repeat([]*scenarios.Result{runText(t, "calm.yaml", calm)}, 21), runText(t, "surprising.yaml", surprising))...)
	if folded, shown := strings.Index(many, "<details><summary><b>21 scenarios without complaint</b></summary>\n\n| |"), strings.Index(many, "### ✗ surprising"); shown < 0 || folded < shown {
		t.Errorf("the report on many scenarios does not fold those without complaint after the others:\n%s", many)
	}
}
