package reports

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// unexpectedRun returns a copy of a run that differs from what its scenario expects.
func unexpectedRun(run scenarios.RunResult, how string) scenarios.RunResult {
	run.Differences = reasonsOf(how)
	return run
}

// undecidedRun returns an inconclusive run, which therefore differs from what its scenario
// expects.
func undecidedRun(fencing, why string) scenarios.RunResult {
	run := unexpectedRun(runWithVerdict(fencing, checks.Undecided), "the verdict is unknown, expected unsafe")
	run.Verdict.Reasons = reasonsOf(why)
	return run
}

// The cell of an exclusion property has the colour of the worse run, in whatever order the
// runs are.
func TestColourOfAnExclusion(t *testing.T) {
	unclear := runWithVerdict(off, checks.Undecided)
	for i := range unclear.Verdict.Findings {
		unclear.Verdict.Findings[i].Outcome = checks.Unknown
	}
	for name, c := range map[string]struct {
		without, with scenarios.RunResult
		want          string // the sign of the cell
	}{
		"unknown without fencing, holds with it":  {unclear, runWithVerdict(on, checks.Safe), `<span class="sign doubt">`},
		"holds without fencing, unknown with it":  {runWithVerdict(off, checks.Safe), unclear, `<span class="sign doubt">`},
		"violated without fencing, holds with it": {runWithVerdict(off, checks.Unsafe, twice...), runWithVerdict(on, checks.Safe), `<span class="sign bad">`},
		"holds in both runs":                      {runWithVerdict(off, checks.Safe), runWithVerdict(on, checks.Safe), `<span class="sign good">`},
	} {
		m := &Matrix{Rows: rows("debate", "a", "", map[string][]Cell{"": {cell("redlock", c.without, c.with)}}, "=")}
		page := mainPart(t, []byte(matrix(t, "html", withVariants(m))))
		if n := strings.Count(page, c.want+`<span class="unseen">a, lease-exclusion`); n != 1 {
			t.Errorf("%s: the sign %s is not on the page\n%s", name, c.want, page)
		}
	}
}

// alarmMatrix returns a matrix with three scenarios: one is as expected, one is not as
// expected in both runs, and one has two variants whose verdicts are unknown.
func alarmMatrix() *Matrix {
	m := &Matrix{}
	m.Rows = append(m.Rows, rows("debate", "calm", "", map[string][]Cell{"": {safeCell("redlock")}}, "=")...)
	m.Rows = append(m.Rows, rows("debate", "odd", "", map[string][]Cell{
		"": {cell("redlock", unexpectedRun(runWithVerdict(off, checks.Safe), "it is safe"), unexpectedRun(runWithVerdict(on, checks.Safe), "it is safe, too"))},
	}, "=")...)
	m.Rows = append(m.Rows, rows("debate", "dark", "", map[string][]Cell{
		"one": {cell("redlock", undecidedRun(off, "nobody looked"), runWithVerdict(on, checks.Safe))},
		"two": {cell("redlock", undecidedRun(off, "nobody came"), unexpectedRun(runWithVerdict(on, checks.Safe), "it is safe"))},
	}, "one=", "two=")...)
	return withVariants(m)
}

// A row with an unknown verdict is not counted as unexpected. The numbers in the summary,
// the boxes, the choices and the badges are numbers of rows.
func TestUnknownIsNotUnexpected(t *testing.T) {
	page := mainPart(t, []byte(matrix(t, "html", alarmMatrix())))
	for _, want := range []string{
		`<span class="badge bad wide">4 variants of 3 scenarios: 1 as expected, 1 not as expected, 2 unknown</span>`,
		`<h2 id="surprises">Not as expected (1)</h2>` + "\n" +
			`<dl class="facts"><dt>odd</dt><dd>without fencing: it is safe; with fencing: it is safe, too</dd></dl>`,
		`<h2 id="unknown">Unknown (2)</h2>` + "\n" +
			`<dl class="facts"><dt>dark, one</dt><dd>nobody looked</dd><dt>dark, two</dt><dd>nobody came</dd></dl>`,
		`value="differs"> <span>not as expected <b>1</b></span>`,
		`value="unknown"> <span>unknown <b>2</b></span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
	for badge, n := range map[string]int{`<span class="badge bad">✗ not as expected</span>`: 1, `<span class="badge doubt">? unknown</span>`: 2} {
		if got := strings.Count(page, badge); got != n {
			t.Errorf("%d rows have %s, want %d", got, badge, n)
		}
	}
	if strings.Contains(page, "Unknown, and why") {
		t.Error("the page has a second list of the reasons")
	}
	if t.Failed() {
		t.Log(page)
	}
}

// With several locks a row can be both unknown and unexpected. The boxes then name the
// lock.
func TestAlarmsOfSeveralLocks(t *testing.T) {
	m := &Matrix{Locks: []string{"single", "redlock", "redsync"}, Rows: rows("debate", "a", "", map[string][]Cell{"": {
		cell("single", unexpectedRun(runWithVerdict(off, checks.Safe), "it is safe"), runWithVerdict(on, checks.Safe)),
		cell("redlock", undecidedRun(off, "nobody looked"), runWithVerdict(on, checks.Safe)),
		{Lock: "redsync", NotApplicable: "it has no such node"},
	}}, "=")}
	wantInOrder(t, readPage(t, "matrix", []byte(matrix(t, "html", withVariants(m)))).text,
		"1 scenario, with 3 locks: 0 as expected, 1 not as expected, 1 unknown",
		"Not as expected (1) asingle, without fencing: it is safe",
		"Unknown (1) aredlock: nobody looked",
		"not as expected 1", "unknown 1",
	)
}

// A row that does not apply to any lock has no standing, but the summary counts it.
func TestNotApplicableOnAPage(t *testing.T) {
	m := &Matrix{Rows: rows("debate", "a", "", map[string][]Cell{"": {{Lock: "redlock", NotApplicable: "it has no such node"}}}, "=")}
	wantInOrder(t, matrix(t, "html", m), "1 scenario: 0 as expected, 0 not as expected, 0 unknown, 1 not applicable")
}

// A lock for which the scenario expects nothing is not counted as "as expected".
func TestNothingExpectedOnAPage(t *testing.T) {
	silent := safeCell("redsync")
	for i := range silent.Runs {
		silent.Runs[i].Expected = nil
	}
	m := &Matrix{Rows: rows("debate", "a", "", map[string][]Cell{"": {silent}}, "=")}
	wantInOrder(t, matrix(t, "html", withVariants(m)), "1 scenario: 0 as expected, 0 not as expected, 0 unknown, 1 without an expectation for this lock")
}
