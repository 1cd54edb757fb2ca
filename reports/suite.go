package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/webpage"
)

// A Suite is what package locktest has found in the locks that a Go package tests.
type Suite struct {
	Tests []SuiteTest `json:"tests"`
}

// A SuiteTest is the result of one test: of one lock.
type SuiteTest struct {
	// Test is the name of the test, and Lock is the name of the lock.
	Test string `json:"test"`
	Lock string `json:"lock"`
	// Worlds is how many worlds were run.
	Worlds int `json:"worlds"`
	// Mistakes are what the lock does wrong, the worst first.
	Mistakes []SuiteMistake `json:"mistakes"`
	// Cases are all test cases, in the order in which they ran.
	Cases []SuiteCase `json:"cases"`
	// Remarks are sentences about the test as a whole, such as that two runs differ.
	Remarks []string `json:"remarks,omitempty"`
}

// A SuiteMistake is a mistake of a lock, with everything that shows it.
type SuiteMistake struct {
	// Mistake and Step identify the mistake: its name, or the property that it violates, and
	// the call in which the lock makes it.
	Mistake string `json:"mistake"`
	Step    string `json:"step,omitempty"`
	// Title says what the lock does wrong.
	Title string `json:"title"`
	// Rules are the properties that the mistake violates, the worst first.
	Rules []string `json:"rules"`
	// Worlds is the number of worlds that show the mistake, and Cases are the test cases of
	// these worlds.
	Worlds int      `json:"worlds"`
	Cases  []string `json:"cases"`
	// Why says what happens in the example, and Lines are the events that matter.
	Why   string   `json:"why"`
	Lines []string `json:"lines,omitempty"`
	// Remedy is what to change. Lesson is the scenario that teaches the mistake. Either may
	// be "".
	Remedy string `json:"remedy,omitempty"`
	Lesson string `json:"lesson,omitempty"`
	// Replays are commands that run one world again each. The first runs the world of the
	// example.
	Replays []string `json:"replays"`
	// Known means that the mistake was expected, so it fails no test.
	Known bool `json:"known,omitempty"`
}

// A SuiteCase is the result of one test case. A test case without a Result fails the lock:
// it is among the Cases of a mistake.
type SuiteCase struct {
	Name   string `json:"name"`
	Result string `json:"result,omitempty"`
	// Why says why the test case does not apply to the lock or why its result is unknown;
	// otherwise it is "".
	Why string `json:"why,omitempty"`
	// NotApplicable means that the test case does not apply to the lock.
	NotApplicable bool `json:"not_applicable,omitempty"`
}

// Suites are reports of package locktest.
var Suites = &Subject[*Suite]{}

func init() {
	Suites.Register(Format[*Suite]{Name: "json", Title: "programs, and the known mistakes of a later test", Write: writeSuiteJSON})
	Suites.Register(Format[*Suite]{Name: "markdown", Title: "a README: a table with a row for each lock", Write: writeSuiteMarkdown})
	Suites.Register(Format[*Suite]{Name: "html", Title: "a browser", Write: writeSuiteHTML})
	Suites.Register(Format[*Suite]{Name: "junit", Title: "CI systems that show test results: JUnit's XML, with the mistake that fails each test case", Write: writeSuiteJUnit})
}

// failedCases counts the test cases that fail the lock.
func (t SuiteTest) failedCases() (n int) {
	for _, c := range t.Cases {
		if c.Result == "" {
			n++
		}
	}
	return n
}

// applicableCases counts the test cases that apply to the lock.
func (t SuiteTest) applicableCases() (n int) {
	for _, c := range t.Cases {
		if !c.NotApplicable {
			n++
		}
	}
	return n
}

// counts returns how many test cases have which result, in the order in which the results
// occur first.
func (t SuiteTest) counts() (counts []remark) {
	of := map[string]int{}
	var order []string
	for _, c := range t.Cases {
		if c.Result != "" && of[c.Result] == 0 {
			order = append(order, c.Result)
		}
		of[c.Result]++
	}
	for _, result := range order {
		counts = append(counts, remarkOn(result, story.Count(of[result], "test case")))
	}
	return counts
}

// showsNothing reports whether no test case failed the lock, and none has a result that is
// known. It is false if a single test case was selected, whose result need not be known.
func (t SuiteTest) showsNothing() bool {
	isKnown := func(c SuiteCase) bool { return !c.NotApplicable && c.Why == "" }
	return t.applicableCases() > 1 && !slices.ContainsFunc(t.Cases, isKnown)
}

// headline says in a few words what the test found about the lock.
func (t SuiteTest) headline() string {
	if t.showsNothing() {
		return "nothing known after " + story.Count(t.applicableCases(), "test case")
	}
	if len(t.Mistakes) == 0 {
		return "no mistake in " + story.Count(t.applicableCases(), "test case")
	}
	return fmt.Sprintf("%s in %d of %s", story.Count(len(t.Mistakes), "mistake"), t.failedCases(), story.Count(t.applicableCases(), "test case"))
}

func writeSuiteJSON(w io.Writer, s *Suite, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}

// ReadSuite reads a report in the format json.
func ReadSuite(r io.Reader) (*Suite, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	s := new(Suite)
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("it is no report of locktest in the format json: %w", err)
	}
	return s, nil
}

// writeSuiteMarkdown writes a table with a row for each lock.
func writeSuiteMarkdown(w io.Writer, s *Suite, _ Options) error {
	var m markdownText
	m.line("| lock | tested in | result | mistakes |")
	m.line("|---|---|---|---|")
	for _, t := range s.Tests {
		sign := "✓ "
		if len(t.Mistakes) > 0 || t.showsNothing() {
			sign = "✗ "
		}
		titles := make([]string, len(t.Mistakes))
		for i, mistake := range t.Mistakes {
			titles[i] = markdown.Escape(mistake.Title)
		}
		m.line("| %s | %s | %s | %s |", markdown.Escape(t.Lock), story.Count(t.Worlds, "world"), sign+t.headline(), strings.Join(titles, "<br>"))
	}
	return m.writeTo(w)
}

// suiteDocument returns the report on one test.
func suiteDocument(t SuiteTest) *document {
	d := &document{title: story.Visible(t.Lock), summary: t.headline() + ", " + story.Count(t.Worlds, "world")}
	for _, r := range t.Remarks {
		d.add("Remark", figure(visibleLines(strings.Split(strings.TrimRight(r, "\n"), "\n"))))
	}
	for i, m := range t.Mistakes {
		title := fmt.Sprintf("%d. %s", i+1, story.Visible(m.Title))
		if m.Known {
			title += " (known)"
		}
		lines := figure(visibleLines(m.Lines))
		about := facts{
			remarkOn("seen in", story.Count(m.Worlds, "world")+" of "+story.Count(len(m.Cases), "test case")),
			remarkOn("violates", strings.Join(eachVisible(m.Rules), ", ")),
		}
		if m.Remedy != "" {
			about = append(about, remarkOn("remedy", story.Visible(m.Remedy)))
		}
		if m.Lesson != "" {
			about = append(about, remarkOn("lesson", "locksim explain "+story.Visible(m.Lesson)))
		}
		for i, r := range m.Replays {
			label := "replay"
			if i > 0 {
				label = ""
			}
			about = append(about, remarkOn(label, story.Visible(r)))
		}
		d.add(title, paragraph(story.Visible(m.Why)), lines, about, listing{"its test cases", eachVisible(m.Cases)})
	}
	d.add("Other test cases", facts(t.counts()))
	return d
}

// visibleLines returns lines as one text, with their invisible characters made visible.
func visibleLines(lines []string) (text string) {
	for _, line := range lines {
		text += story.Visible(line) + "\n"
	}
	return text
}

// writeSuiteHTML writes a page with a chapter for each mistake of each lock.
func writeSuiteHTML(w io.Writer, s *Suite, _ Options) error {
	var body g.Group
	var names []string
	for _, t := range s.Tests {
		d := suiteDocument(t)
		names = append(names, d.title)
		body = append(body, onLines(h.H1(g.Text(d.title)), lead(d.summary)), d.html())
	}
	_, err := w.Write(webpage.New("locktest: "+strings.Join(names, ", "), body).HTML())
	return err
}

// writeSuiteJUnit writes a JUnit report. A failed test case contains the mistakes because of
// which it failed.
func writeSuiteJUnit(w io.Writer, s *Suite, _ Options) error {
	report := junitReport{Name: "locktest", junitCounts: junitCounts{Time: junitTime}}
	for _, t := range s.Tests {
		suite := junitSuite{
			Name: story.Visible(t.Test), junitCounts: junitCounts{Time: junitTime},
			Properties: []junitProperty{{"lock", story.Visible(t.Lock)}, {"worlds", fmt.Sprint(t.Worlds)}},
		}
		for _, c := range t.Cases {
			entry := junitCase{Class: suite.Name, Name: story.Visible(c.Name), Time: junitTime, Out: junitText{c.Result}}
			counts := junitCounts{Tests: 1}
			switch failed := t.failureOf(c); {
			case failed != nil:
				entry.Failure, counts.Failures = failed, 1
			case c.Why != "":
				entry.Skipped, counts.Skipped = &junitTrouble{Message: story.Visible(c.Why)}, 1
			}
			suite.add(counts)
			suite.Cases = append(suite.Cases, entry)
		}
		report.add(suite.junitCounts)
		report.Suites = append(report.Suites, suite)
	}
	return report.writeTo(w)
}

// failureOf says which mistakes fail a test case, except the known ones; nil if there are none.
func (t SuiteTest) failureOf(c SuiteCase) *junitTrouble {
	var titles, rules, texts []string
	for _, m := range t.Mistakes {
		if m.Known || !slices.Contains(m.Cases, c.Name) {
			continue
		}
		titles, rules = append(titles, m.Title), append(rules, m.Mistake)
		text := append([]string{m.Title, "", m.Why}, m.Lines...)
		if m.Remedy != "" {
			text = append(text, "", "remedy: "+m.Remedy)
		}
		for _, r := range m.Replays {
			text = append(text, "replay: "+r)
		}
		for i := range text {
			text[i] = story.Visible(text[i])
		}
		texts = append(texts, strings.Join(text, "\n"))
	}
	if len(titles) == 0 {
		return nil
	}
	return &junitTrouble{Message: story.Visible(strings.Join(titles, "; ")), Type: strings.Join(rules, " "), Text: strings.Join(texts, "\n\n") + "\n"}
}
