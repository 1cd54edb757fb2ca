package reports

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// resultOf returns a result for traces written by hand, with their verdicts.
func resultOf(traces ...*trace.Trace) *scenarios.Result {
	v := &scenarios.Variant{Scenario: "by-hand", Title: "A story", Narrative: scenarios.Narrative{Story: "Somebody oversleeps."}, Lock: "redlock"}
	s := &scenarios.Scenario{Name: "by-hand", File: "by-hand.yaml", Title: "A story", Narrative: scenarios.Narrative{Lesson: "Do not."}, Variants: []*scenarios.Variant{v}}
	r := &scenarios.Result{Scenario: s, Lock: "redlock", Seed: 1}
	for i, t := range traces {
		r.Runs = append(r.Runs, scenarios.RunResult{
			Variant: v, Lock: "redlock", Fencing: []string{scenarios.Off, scenarios.On}[i],
			History: history.New(t), Verdict: checks.Check(history.New(t), nil),
		})
	}
	return r
}

// written returns the report on results in a format.
func written(t *testing.T, format string, o Options, results ...*scenarios.Result) string {
	t.Helper()
	f, ok := Runs.Lookup(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var b bytes.Buffer
	if err := f.Write(&b, results, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wantInOrder fails the test unless got contains the parts in the given order.
func wantInOrder(t *testing.T, got string, parts ...string) {
	t.Helper()
	rest := got
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is not there, or not in its place, in\n%s", part, got)
		}
		rest = after
	}
}

func TestTextReport(t *testing.T) {
	got := written(t, "text", Options{}, resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes")))
	wantInOrder(t, got,
		"by-hand: A story\n",
		"\n  Somebody oversleeps.\n",
		"\n  lock     redlock on 3 nodes, TTL 30s\n",
		"  fault 1  pause client-1\n",
		"\n  30.022s  client-1  resumes after 30s (fault 1)\n",
		"\n  without fencing\n",
		"\n  with fencing\n",
		"  property           without fencing  with fencing\n",
		"  section-exclusion  ✗ violated       ✗ violated\n",
		"  write-order        ✗ violated       ✓ holds\n",
		"  verdict            ✗ unsafe         ✓ safe\n",
		"  without fencing  client-1's write of x at 30.024s replaced",
		"  with fencing     The storage refused client-1's write at 30.024s: token 1 is\n",
		"  the lock         client-2 entered its critical section at 30.009s",
		`– the scenario has no expectation for the lock redlock`,
		"\n  Do not.\n",
		"\nreplay: locksim run by-hand.yaml --seed 1\n",
	)
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > pageWidth {
			t.Errorf("a line is %d columns wide: %s", n, line)
		}
		if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
			t.Errorf("a line ends with spaces: %q", line)
		}
	}
}

func TestEveryPropertyHasARow(t *testing.T) {
	r := resultOf(simtest.PausedHolderTrace("none"))
	got := written(t, "text", Options{}, r)
	for _, p := range checks.JudgedProperties(r.Runs[0].Verdict) {
		if !p.Card().ReportOnly {
			wantInOrder(t, got, "\n  "+string(p)+" ")
		}
	}
	if strings.Contains(got, string(checks.ReleaseAnswer)) {
		t.Error("release-answer is not violated, but the report mentions it")
	}
	if strings.Contains(got, string(checks.OncePerPeriod)) {
		t.Error("the run has no schedule, but the report mentions once-per-period")
	}
}

func TestColouredReportSaysTheSame(t *testing.T) {
	r := resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
	plain, coloured := written(t, "text", Options{}, r), written(t, "text", Options{Palette: Colour}, r)
	if plain == coloured {
		t.Error("the coloured report has no colour")
	}
	if stripColours(coloured) != plain {
		t.Errorf("without its colours the coloured report is\n%s\nwant\n%s", stripColours(coloured), plain)
	}
}

func TestReportSaysWhetherRunsAreAsExpected(t *testing.T) {
	r := resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
	for i := range r.Runs {
		r.Runs[i].Expected = &scenarios.Expectation{}
	}
	wantInOrder(t, written(t, "text", Options{}, r), "✓ as expected")

	r.Runs[1].Differences = reasonsOf("the verdict is safe, expected unsafe")
	wantInOrder(t, written(t, "text", Options{}, r),
		"✗ not as expected\n    with fencing: the verdict is safe, expected unsafe\n")
}

func TestReportNamesDoubts(t *testing.T) {
	r := resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
	seen := checks.WitnessResult{Text: "client-1 wrote", Seen: true}
	missed := checks.WitnessResult{Text: "client-1 wrote"}
	r.Runs[0].Verdict.Witnesses = []checks.WitnessResult{seen, seen, missed}
	r.Runs[1].Verdict.Witnesses = []checks.WitnessResult{seen, missed, missed}
	r.Runs[0].Verdict.RanOn = true
	r.Runs[1].Verdict.Torn = []checks.TornSection{{Client: "client-1", Section: 1, Reason: reasonsOf("half of it is there")[0]}}
	r.Runs[0].History.Trace.Faults[0].IdleReason = "its point was never reached"
	wantInOrder(t, written(t, "text", Options{}, r),
		"fault 1  pause client-1 (it did not act: its point was never reached)\n",
		"  ✓ happened: client-1 wrote\n",
		"  ✗ did NOT happen with fencing: client-1 wrote\n",
		"  ✗ did NOT happen: client-1 wrote\n",
		"  ! without fencing: a paused process kept running",
		"  ! with fencing: the section of client-1 is torn (only a part of it took\n    effect) and has to be repaired: half of it is there.\n",
	)
}

func TestSummary(t *testing.T) {
	expected, surprising, silent := resultOf(simtest.PausedHolderTrace("none")), resultOf(simtest.PausedHolderTrace("none")), resultOf(simtest.PausedHolderTrace("none"))
	expected.Runs[0].Expected = &scenarios.Expectation{}
	surprising.Runs[0].Differences = reasonsOf("the verdict is safe, expected unsafe")
	undecided := resultOf(simtest.PausedHolderTrace("none"))
	undecided.Runs[0].Verdict.Verdict = checks.Undecided
	// Each of the four runs lasts 30.027 s.
	want := "\n4 scenarios: 1 as expected, 1 not as expected, 1 unknown, 1 without an expectation for this lock\n4 runs: 2m 0s of virtual time"
	for took, more := range map[time.Duration]string{0: "\n", 1234 * time.Millisecond: " in 1.2s\n"} {
		if got := written(t, "text", Options{Took: took}, expected, surprising, silent, undecided); !strings.HasSuffix(got, want+more) {
			t.Errorf("the report ends with %q", got[max(0, len(got)-2*len(want)):])
		}
	}
	if got := written(t, "text", Options{Took: time.Hour}, expected); strings.Contains(got, "virtual time") {
		t.Errorf("the report on one scenario has a summary: %q", got)
	}
}

// The JSON report contains the time of a violation.
func TestJSONHasTheTimeOfAViolation(t *testing.T) {
	text := written(t, "json", Options{}, resultOf(simtest.PausedHolderTrace("none")))
	wantInOrder(t, text, `"property": "section-exclusion"`, `"at_ns": 30009000000`, `"property": "write-order"`, `"at_ns": 30024000000`)
}

func TestJSONReport(t *testing.T) {
	yes := true
	r := resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
	r.AsExpected = &yes
	r.Runs[0].Verdict.Witnesses = []checks.WitnessResult{{Text: "<b> & c", Seen: true}}
	text := written(t, "json", Options{}, r)
	var got struct {
		Schema  string
		Results []struct {
			Scenario, File, Lock string
			Seed                 uint64
			AsExpected           *bool `json:"as_expected"`
			Runs                 []struct {
				Variant, Fencing, Verdict string
				Properties                map[checks.Property]checks.Outcome
				Witnesses                 map[string]bool
				TraceHash                 string `json:"trace_hash"`
				VirtualMS                 int64  `json:"virtual_ms"`
				Events                    int
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "locksim/report/v1" || len(got.Results) != 1 {
		t.Fatalf("the document is %+v", got)
	}
	res := got.Results[0]
	if res.Scenario != "by-hand" || res.File != "by-hand.yaml" || res.Lock != "redlock" || res.Seed != 1 || res.AsExpected == nil || !*res.AsExpected || len(res.Runs) != 2 {
		t.Fatalf("the result is %+v", res)
	}
	off := res.Runs[0]
	if off.Fencing != "off" || off.Verdict != "unsafe" || off.Properties["write-order"] != "violated" || off.Properties["lease-exclusion"] != "holds" ||
		!off.Witnesses["<b> & c"] || off.TraceHash != r.Runs[0].History.Trace.Hash() || off.VirtualMS != 30027 || off.Events != len(r.Runs[0].History.Trace.Events) {
		t.Errorf("the run without fencing is %+v", off)
	}
	for _, run := range res.Runs {
		if len(run.Properties) != len(checks.JudgedProperties(r.Runs[0].Verdict)) {
			t.Errorf("fencing %s: the run has %d properties, want %d", run.Fencing, len(run.Properties), len(checks.JudgedProperties(r.Runs[0].Verdict)))
		}
	}
	var at []int
	for _, p := range checks.JudgedProperties(r.Runs[0].Verdict) {
		at = append(at, strings.Index(text, `"`+string(p)+`"`))
	}
	if !slices.IsSorted(at) {
		t.Error("the properties are not in the order of package checks")
	}
	if again := written(t, "json", Options{}, r); again != text {
		t.Error("the same result gives another report the second time")
	}
}

func TestJSONWithoutResults(t *testing.T) {
	if got, want := written(t, "json", Options{}), "{\n  \"schema\": \"locksim/report/v1\",\n  \"results\": []\n}\n"; got != want {
		t.Errorf("the document is %q, want %q", got, want)
	}
}

func TestReplayNamesOnlyAnotherLock(t *testing.T) {
	r := resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
	if got := replay(r, Options{}); got != "locksim run by-hand.yaml --seed 1" {
		t.Errorf("the replay line is %q", got)
	}
	r.Runs[0].Lock, r.Lock = "redsync", "redsync"
	if got := replay(r, Options{}); got != "locksim run by-hand.yaml --seed 1 --lock redsync" {
		t.Errorf("the replay line is %q", got)
	}
	named := Options{Arguments: map[*scenarios.Scenario]string{r.Scenario: "it's mine.yaml"}}
	if got := replay(r, named); got != `locksim run 'it'\''s mine.yaml' --seed 1 --lock redsync` {
		t.Errorf("the replay line is %q", got)
	}
}

// If only some runs of a scenario were chosen, the replay command chooses the same runs.
func TestReplayChoosesTheSameRuns(t *testing.T) {
	s, err := scenarios.Parse("late.yaml", []byte(lateOrNot))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ variant, fencing, want string }{
		{"", "", ""},
		{"late", "", " --variant late"},
		{"", scenarios.Off, " --fencing off"},
		{"in-time", scenarios.On, " --variant in-time --fencing on"},
	} {
		r, err := whole.SelectRuns(c.variant, c.fencing)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := replay(r, Options{}), "locksim run late.yaml --seed 1"+c.want; got != want {
			t.Errorf("the replay line is %q, want %q", got, want)
		}
		r.Scenario = s // the scenario has more runs than the result
		if got, want := replay(r, Options{}), "locksim run late.yaml --seed 1"+c.want; got != want {
			t.Errorf("if the scenario has more runs than the result, the replay line is %q, want %q", got, want)
		}
	}
	one, err := s.SelectVariant("late")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Replay(one, scenarios.RunOptions{Seed: 2}, Options{}), "locksim run late.yaml --seed 2 --variant late"; got != want {
		t.Errorf("the replay line of one variant is %q, want %q", got, want)
	}
}

// reasonsOf returns reasons with the given texts.
func reasonsOf(texts ...string) []checks.Reason {
	var all []checks.Reason
	for _, text := range texts {
		all = append(all, checks.InDoubt.Reason(text))
	}
	return all
}
