package reports_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// inFormat returns a report about results in a format.
func inFormat(t testing.TB, format string, o reports.Options, results ...*scenarios.Result) string {
	t.Helper()
	f, known := reports.Runs.Lookup(format)
	if !known {
		t.Fatalf("there is no format %q", format)
	}
	var b strings.Builder
	if err := f.Write(&b, results, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// runOnce runs a scenario.
func runOnce(t testing.TB, s *scenarios.Scenario) *scenarios.Result {
	t.Helper()
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reread reads a document of saved traces, and fails the test if that fails.
func reread(t testing.TB, doc string) *reports.Saved {
	t.Helper()
	saved, err := reports.ReadTraces([]byte(doc), "trace.json")
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// If a document has only some runs of a scenario, the same runs are read.
func TestSavedTracesOfOneVariant(t *testing.T) {
	s, err := scenarios.Open("delayed-write")
	if err != nil {
		t.Fatal(err)
	}
	one, err := runOnce(t, s).SelectRuns("gives-up", scenarios.On)
	if err != nil {
		t.Fatal(err)
	}
	saved := reread(t, inFormat(t, "trace", reports.Options{}, one))
	if then, now := inFormat(t, "text", reports.Options{}, one), inFormat(t, "text", reports.Options{}, saved.Results...); then != now {
		t.Errorf("the report on the run was\n%s\nbut the report on the saved run is\n%s", then, now)
	}
}

// panicking is a lock that panics when it is acquired.
type panicking struct{}

func (panicking) Acquire(context.Context) (locks.Lease, error) { panic("oh no") }

// A run that ended early because of the lock gets the same verdict from its saved trace.
func TestSavedTracesContainTheEndingOfARun(t *testing.T) {
	s, err := scenarios.Open("no-faults")
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := locks.Lookup("single")
	kind.Name, kind.New = "mine", func(*locks.Env) (locks.Lock, error) { return panicking{}, nil }
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range reread(t, inFormat(t, "trace", reports.Options{}, r)).Results[0].Runs {
		first := r.Runs[i]
		ending := run.History.Trace.Ending
		if ending == nil || ending.Rule != trace.ConductPanic || !strings.Contains(ending.Why, "oh no") {
			t.Fatalf("the saved run ended with %+v, want the panic", ending)
		}
		if run.Verdict.Verdict != checks.Undecided || !reflect.DeepEqual(run.Verdict.Reasons, first.Verdict.Reasons) {
			t.Errorf("the verdict on the saved run is %s, %v; want that on the run itself, %s, %v", run.Verdict.Verdict, run.Verdict.Reasons, first.Verdict.Verdict, first.Verdict.Reasons)
		}
		title := story.NewParagraph(run.History, run.Verdict).Title(run.Verdict, 100).String()
		if !strings.Contains(title, "the lock panics") {
			t.Errorf("the title of the run is %q, want that the lock panics", title)
		}
	}
}

// A single trace has no scenario. Therefore nothing is expected of it, and it cannot be run
// again.
func TestTraceAlone(t *testing.T) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	run := runOnce(t, s).Runs[0]
	alone, err := json.Marshal(run.History.Trace)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := reports.ReadTraces(alone, "dir/mine.json")
	if err != nil {
		t.Fatal(err)
	}
	r := saved.Results[0]
	if got := r.Runs[0]; r.AsExpected != nil || got.Verdict.Verdict != run.Verdict.Verdict || got.Fencing != scenarios.Off {
		t.Errorf("as expected: %v, verdict %s, fencing %s; want nil, the verdict of the run, and off", r.AsExpected, got.Verdict.Verdict, got.Fencing)
	}
	o := reports.Options{Arguments: saved.Arguments, Traces: saved.Traces}
	report := inFormat(t, "text", o, r)
	for _, part := range []string{"mine: gc-pause\n", "replay: locksim report dir/mine.json\n"} {
		if !strings.Contains(report, part) {
			t.Errorf("the report does not contain %q:\n%s", part, report)
		}
	}
	// If the trace is saved again, nothing changes.
	again := reread(t, inFormat(t, "trace", o, r))
	if len(again.Notes) > 0 || again.Results[0].Runs[0].Verdict.Verdict != run.Verdict.Verdict {
		t.Errorf("after the trace is saved and read again, the notes are %q, or the verdict has changed", again.Notes)
	}
}

// The verdict on a saved trace is unknown if the trace may have been changed.
func TestDoubtfulSavedTraces(t *testing.T) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	doc := inFormat(t, "trace", reports.Options{}, runOnce(t, s))
	for _, doubted := range []struct {
		name, old, new string   // new replaces old in the document
		verdicts       string   // without and with fencing
		notes          []string // the beginnings of the notes
	}{
		{name: "an event was changed", old: `"kind": "connect",`, new: `"kind": "close",`, verdicts: "unknown unknown",
			notes: []string{
				"gc-pause, without fencing: these are not the saved events",
				"gc-pause, with fencing: these are not the saved events",
			}},
		{name: "the scenario has a field that this version does not know", old: `"text": "# yaml`, new: `"text": "moon: full\n# yaml`, verdicts: "unknown unknown",
			notes: []string{
				`gc-pause, without fencing: this version cannot read the saved scenario, so its witnesses are unknown, and no verdict is possible: scenarios/gc-pause.yaml:1: moon`,
				`gc-pause, with fencing: this version cannot read the saved scenario`,
			}},
		{name: "the saved finding was another", old: `"write-order": "violated"`, new: `"write-order": "holds"`, verdicts: "unsafe safe",
			notes: []string{"gc-pause, without fencing: checked again: write-order was holds when saved, is violated now"}},
		{name: "the saved violation was at another time", old: `"at_ns": 30015574973`, new: `"at_ns": 29000000000`, verdicts: "unsafe safe",
			notes: []string{
				"gc-pause, without fencing: checked again: section-exclusion was violated at 29s when saved, is violated at 30.015574973s now",
				"gc-pause, with fencing: checked again: section-exclusion was violated at 29s when saved, is violated at 30.015574973s now",
			}},
		{name: "the saved violation had another blame", old: `"fault": "inherent: needs fencing"`, new: `"fault": "lock"`, verdicts: "unsafe safe",
			notes: []string{
				"gc-pause, without fencing: checked again: the blame for the violation of section-exclusion was lock when saved, is inherent: needs fencing now",
				"gc-pause, with fencing: checked again: the blame for the violation of section-exclusion was lock when saved, is inherent: needs fencing now",
			}},
		{name: "the saved verdict was another", old: `"verdict": "safe"`, new: `"verdict": "unknown"`, verdicts: "unsafe safe",
			notes: []string{"gc-pause, with fencing: checked again: the verdict was unknown when saved, is safe now"}},
	} {
		t.Run(doubted.name, func(t *testing.T) {
			changed := strings.ReplaceAll(doc, doubted.old, doubted.new)
			if changed == doc {
				t.Fatalf("%q is not in the document", doubted.old)
			}
			saved := reread(t, changed)
			runs := saved.Results[0].Runs
			if got := runs[0].Verdict.Verdict + " " + runs[1].Verdict.Verdict; got != doubted.verdicts {
				t.Errorf("the verdicts are %s, want %s", got, doubted.verdicts)
			}
			if len(saved.Notes) != len(doubted.notes) {
				t.Fatalf("the notes are %q, want %d", saved.Notes, len(doubted.notes))
			}
			for i, note := range doubted.notes {
				if !strings.HasPrefix(saved.Notes[i], note) {
					t.Errorf("note %d is %q, want one that begins with %q", i, saved.Notes[i], note)
				}
			}
			// The doubt remains after the trace has been saved again.
			again := reread(t, inFormat(t, "trace", reports.Options{}, saved.Results...)).Results[0].Runs
			if got := again[0].Verdict.Verdict + " " + again[1].Verdict.Verdict; got != doubted.verdicts {
				t.Errorf("after the traces are saved and read again, the verdicts are %s, want %s", got, doubted.verdicts)
			}
		})
	}
}

// A document that is not a saved trace is refused. The error says what the document is, and
// where it is wrong.
func TestReadTracesRefuses(t *testing.T) {
	s, err := scenarios.Parse("small.yaml", []byte("title: Small\nlock: {kind: single, ttl: 10s}\nclients:\n  client-1: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	result := runOnce(t, s)
	doc := inFormat(t, "trace", reports.Options{}, result)
	// changed returns the document of a run with a changed trace.
	changed := func(change func(*trace.Trace)) string {
		r := reread(t, doc).Results[0]
		change(r.Runs[0].History.Trace)
		return inFormat(t, "trace", reports.Options{}, r)
	}
	replaced := func(old, new string) string { return strings.Replace(doc, old, new, 1) }
	for _, bad := range []struct{ name, doc, says string }{
		{"an empty document", " \n", "it is empty; make one with locksim run --format trace -o FILE"},
		{"a document that is not JSON", "title: A story\n", "line 1: not valid JSON: invalid character"},
		{"a document that is cut off", doc[:len(doc)/2], "the document ends too early (unexpected end of JSON input); is the file complete?"},
		{"two documents", doc + doc, "not valid JSON: invalid character '{' after top-level value"},
		{"a list", "[]", "line 1: the document has a value of the wrong type: array"},
		{"an object without a schema", "{}", "it is not a saved trace: it has no schema"},
		{"a report on runs", inFormat(t, "json", reports.Options{}, result), "it is a report, which contains no trace; make one with locksim run --format trace -o FILE"},
		{"a report on a search", `{"schema": "locksim/explore/v1"}`, `it is not a saved trace: its schema is "locksim/explore/v1"`},
		{"a document of a later version", `{"schema": "locksim/trace/v2"}`, `its schema is "locksim/trace/v2", but this version of locksim reads "locksim/trace/v1"; a later version has written it`},
		{"no results", `{"schema": "locksim/trace/v1", "results": []}`, "it contains no results"},
		{"no runs", `{"schema": "locksim/trace/v1", "results": [{}]}`, "results[0]: it has no runs"},
		{"no trace", `{"schema": "locksim/trace/v1", "results": [{"runs": [null]}]}`, "results[0]: runs[0]: it has no trace"},
		{"a text for a number", replaced(`"seed": 1`, `"seed": "one"`), "line 8: results.seed has a value of the wrong type: string"},
		{"a run twice", strings.Replace(strings.ReplaceAll(doc, `"fencing": "writes"`, `"fencing": "none"`), `"fencing": "on"`, `"fencing": "off"`, 1), "results[0]: runs[1]: it is the same run as runs[0]"},
		{"an unknown value of fencing", replaced(`"fencing": "on"`, `"fencing": "sometimes"`), `results[0]: runs[1]: its fencing is "sometimes" and neither off nor on`},
		{"another run's trace", replaced(`"seed": 1`, `"seed": 2`), `results[0]: runs[0]: its trace is of another run: variant "", seed 1, fencing off`},
		{"another scenario", replaced(`"text": "title: Small`, `"text": "variants: {a: {}}\ntitle: Small`), `results[0]: runs[0]: the scenario has no variant ""`},
		{"another scenario's text", replaced(`"text": "title: Small`, `"text": "title: Large`), `results[0]: the text belongs to another scenario: its title is "Large", but the title of the runs is "Small"`},
		{"another scenario's file", replaced(`"file": "small.yaml"`, `"file": "large.yaml"`), `results[0]: the runs belong to the scenario "small", but the file "large.yaml" is another scenario`},
		{"another scenario's trace", changed(func(tr *trace.Trace) { tr.Name = "large" }), `results[0]: runs[0]: its trace is of another scenario: "large", and not "small"`},
		{"an unknown event", changed(func(tr *trace.Trace) { tr.Events[3].Kind = "teleport" }), `results[0]: runs[0]: trace: events[3]: the kind "teleport" is not known: a later version may have written it`},
		{"a trace alone, without events", `{"name": "x", "events": []}`, "there are no processes"},
		{"a document with events of another kind", `{"events": [{"id": 1}]}`, "there are no processes"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			saved, err := reports.ReadTraces([]byte(bad.doc), "trace.json")
			if err == nil {
				t.Fatalf("the document is read, with %d results; want an error", len(saved.Results))
			}
			if !strings.Contains(err.Error(), bad.says) {
				t.Errorf("the error is\n%v\nwant one that contains\n%s", err, bad.says)
			}
		})
	}
}

// A document is refused if a variant lacks a run that the other variants have.
func TestReadTracesRefusesAMissingRun(t *testing.T) {
	s, err := scenarios.Open("delayed-write")
	if err != nil {
		t.Fatal(err)
	}
	r := runOnce(t, s)
	r.Runs = r.Runs[:len(r.Runs)-1]
	_, err = reports.ReadTraces([]byte(inFormat(t, "trace", reports.Options{}, r)), "trace.json")
	if want := "has no run with fencing on, but other variants have one"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want one that contains %s", err, want)
	}
}

// A saved trace does not depend on real time.
func TestSavedTracesHoldNoRealTime(t *testing.T) {
	s, err := scenarios.Open("no-faults")
	if err != nil {
		t.Fatal(err)
	}
	r := runOnce(t, s)
	if inFormat(t, "trace", reports.Options{Took: time.Second}, r) != inFormat(t, "trace", reports.Options{}, runOnce(t, s)) {
		t.Error("two runs of one world are saved differently")
	}
}
