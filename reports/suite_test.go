package reports

import (
	"bytes"
	"strings"
	"testing"
)

// A test in which every result is unknown has no check mark, and says so.
func TestSuiteOfNothing(t *testing.T) {
	row := func(cases ...SuiteCase) string {
		var b bytes.Buffer
		if err := writeSuiteMarkdown(&b, &Suite{Tests: []SuiteTest{{Lock: "a lock", Worlds: 2, Cases: cases}}}, Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	unknown := SuiteCase{Name: "claims/lease", Result: "unknown", Why: "the server lacks a function"}
	passed := SuiteCase{Name: "loss/release", Result: "passes"}
	if got := row(unknown, unknown); !strings.Contains(got, "✗ nothing known after 2 test cases") {
		t.Errorf("nothing is known, and the row is\n%s", got)
	}
	if got := row(unknown, passed); !strings.Contains(got, "✓ no mistake in 2 test cases") {
		t.Errorf("one test case passed, and the row is\n%s", got)
	}
}
