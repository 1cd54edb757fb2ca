package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{Name: "junit", Title: "CI systems that show test results: JUnit's XML, with a test case for each run", Write: writeJUnit})
}

// The elements of a JUnit report, in the form that Jenkins and GitLab read. Everything that
// is wrong with a run is in one element.
type (
	junitReport struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}

	// junitSuite is the result of a scenario.
	junitSuite struct {
		Name string `xml:"name,attr"`
		File string `xml:"file,attr,omitempty"`
		junitCounts
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}

	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}

	// junitCase is a run. Failure means that the run is not as expected, Error that its
	// verdict is unknown, and Skipped that the scenario expects nothing. At most one of the
	// three is not nil.
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Time    string        `xml:"time,attr"`
		Failure *junitTrouble `xml:"failure"`
		Error   *junitTrouble `xml:"error"`
		Skipped *junitTrouble `xml:"skipped"`
		Out     junitText     `xml:"system-out"`
	}

	junitTrouble struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}

	junitText struct {
		Text string `xml:",cdata"`
	}

	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
)

// junitTime is the duration in seconds of each run and of the report. CI systems require a
// duration. Real time differs each time, and virtual time is not time that anybody waits,
// so the report says 0.
const junitTime = "0"

// writeJUnit writes the results of runs as a JUnit report.
func writeJUnit(w io.Writer, results []*scenarios.Result, o Options) error {
	report := junitReport{Name: "locksim", junitCounts: junitCounts{Time: junitTime}}
	for _, r := range results {
		suite := suiteOf(r, o)
		report.add(suite.junitCounts)
		report.Suites = append(report.Suites, suite)
	}
	return report.writeTo(w)
}

// writeTo writes the report as XML.
func (r junitReport) writeTo(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suiteOf returns the element for the result of a scenario.
func suiteOf(r *scenarios.Result, o Options) junitSuite {
	suite := junitSuite{
		Name: story.Visible(r.Scenario.Name), File: fileOf(r.Scenario, o),
		junitCounts: junitCounts{Time: junitTime},
		Properties: []junitProperty{
			{"title", story.Visible(r.Scenario.Title)},
			{"lock", story.Visible(r.Lock)},
			{"seed", fmt.Sprint(r.Seed)},
			{"replay", replay(r, o)},
		},
	}
	for _, run := range r.Runs {
		c := junitCase{
			Class: "locksim." + suite.Name, Name: runTitle(run), File: suite.File, Time: junitTime,
			Out: junitText{lines(append([]string{"verdict: " + run.Verdict.Verdict}, visibleTexts(explanationLines(run))...))},
		}
		if c.File != "" {
			c.Line = run.Variant.ExpectationLine(run.Lock, run.Fencing)
		}
		counts := junitCounts{Tests: 1}
		switch standing := standingOfRun(run); standing {
		case NotAsExpected:
			c.Failure, counts.Failures = describeTrouble(run, "unexpected", replay(r, o)), 1
		case Undecided:
			c.Error, counts.Errors = describeTrouble(run, "unknown", replay(r, o)), 1
		case NothingExpected:
			c.Skipped, counts.Skipped = &junitTrouble{Message: nothingExpected(run)}, 1
		}
		suite.add(counts)
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

// describeTrouble says what is wrong with a run, and gives the command that repeats the
// run.
func describeTrouble(run scenarios.RunResult, kind, replay string) *junitTrouble {
	complaints := visibleTexts(complaintsOfRun(run))
	return &junitTrouble{
		Message: complaintTitle(run) + ": " + complaints[0],
		Type:    kind,
		Text:    lines(append(complaints, "replay: "+replay)),
	}
}

// lines joins lines. Each of them ends with a line break.
func lines(list []string) string { return strings.Join(list, "\n") + "\n" }

// add adds other counts.
func (c *junitCounts) add(more junitCounts) {
	c.Tests += more.Tests
	c.Failures += more.Failures
	c.Errors += more.Errors
	c.Skipped += more.Skipped
}
