package locktest

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/trace"
)

// failingSummary returns the summary of a test in which release removes another client's
// key, in two test cases; a third does not apply to the lock.
func failingSummary(known *reports.Suite) *summary {
	s := &summary{subject: &subject{config: Config{Name: "mylock", Known: "known.json"}, test: "TestMine"}, known: known}
	found := problem{
		Rule: checks.ReleaseOwnership, Mistake: "removes-unchecked", Step: trace.Release,
		Why: "client-1 removed client-2's key", Lines: "1.000s  client-1  removes <it>\n", Address: address{TestCase: "release-again", Seed: 1},
	}
	failed := testResult{Worlds: 2, Failed: 1, Problems: []problem{found}, Causes: causesOf([]problem{found})}
	s.add(testCase{name: "release-again"}, failed)
	s.add(testCase{name: "loss/release"}, failed)
	s.add(testCase{name: "claims/loss"}, testResult{NotApplicable: "the lock does not claim it"})
	return s
}

// The report of all tests of a package is written in the format that the extension of the
// file selects.
func TestReportFile(t *testing.T) {
	for extension, wanted := range map[string][]string{
		".html": {"<h1>mylock</h1>", "1. release removes the key of another acquisition", "removes &lt;it&gt;", "LOCKSIM_REPLAY="},
		".md":   {"| mylock | 4 worlds | ✗ 1 mistake in 2 of 2 test cases | release removes the key of another acquisition, because it compares nothing |"},
		".xml":  {`<testsuite name="TestMine" tests="3" failures="2" errors="0" skipped="1"`, `type="removes-unchecked"`, "remedy: "},
		".json": {`"mistake": "removes-unchecked"`, `"not_applicable": true`},
	} {
		t.Run(extension, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "report"+extension)
			t.Setenv(reportVariable, name)
			if err := checkReportFile(); err != nil {
				t.Fatal(err)
			}
			reported.tests = nil
			if err := writeReport(failingSummary(nil).suiteTest()); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wanted {
				if !strings.Contains(string(data), w) {
					t.Errorf("the report does not contain %q:\n%s", w, data)
				}
			}
			if extension == ".xml" {
				if err := xml.Unmarshal(data, new(struct{})); err != nil {
					t.Errorf("the report is not XML: %v", err)
				}
			}
		})
	}
}

// A report that cannot be written is refused before any world runs.
func TestReportFileIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"report.pdf":            "ends with .html, .md, .xml or .json",
		"no-such/folder/r.html": "there is no folder no-such/folder",
	} {
		t.Setenv(reportVariable, name)
		if err := checkReportFile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, want)
		}
	}
}

// A mistake that is known fails nothing, unless it violates more than before.
func TestKnownMistakes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "known.json")
	t.Setenv(reportVariable, name)
	reported.tests = nil
	if err := writeReport(failingSummary(nil).suiteTest()); err != nil {
		t.Fatal(err)
	}
	known, err := readKnown(name)
	if err != nil {
		t.Fatal(err)
	}
	again := failingSummary(known)
	if n := len(again.unknownCauses()); n != 0 {
		t.Errorf("%d mistakes are new, want 0", n)
	}
	if text := again.String(); !strings.Contains(text, "known: release removes the key of another acquisition") || strings.Contains(text, "no longer seen") {
		t.Errorf("the summary does not say that the mistake is known:\n%s", text)
	}
	again.causes[0].addRules(checks.LeaseExclusion)
	if n := len(again.unknownCauses()); n != 1 {
		t.Errorf("%d mistakes are new after the known one has violated more, want 1", n)
	}
	mended := &summary{subject: again.subject, known: known}
	if text := mended.String(); !strings.Contains(text, "no longer seen: release removes the key of another acquisition") {
		t.Errorf("the summary does not say that a known mistake is gone:\n%s", text)
	}

	for content, want := range map[string]string{"": "EOF", "{": "unexpected EOF", `{"what": 1}`: "unknown field"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readKnown(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error for a file with %q is %v, want one with %q", content, err, want)
		}
	}
	if _, err := readKnown(name + "x"); err == nil || !strings.Contains(err.Error(), "run the test once without Known") {
		t.Errorf("the error for a missing file is %v; it must say how to write one", err)
	}
}
