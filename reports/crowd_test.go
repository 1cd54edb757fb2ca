package reports_test

import (
	"io"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

var crowded = suites.CrowdedResult

// The crowd, a world with many clients, is as large as reports must be able to handle.
func TestCrowdIsLarge(t *testing.T) {
	for _, run := range crowded(t).Runs {
		if n := len(run.History.Trace.Events); n < 19_000 {
			t.Errorf("fencing %s: the crowd has only %d events, want at least 19,000", run.Fencing, n)
		}
	}
}

// Reports of the crowd are small enough to be opened. A comment on GitHub may have 65,000
// characters, and Mermaid draws 50,000 characters for each run. The size of a timeline does
// not depend on the number of messages. A trace has no limit, because it contains
// everything.
func TestCrowdIsShownWithinBounds(t *testing.T) {
	const page = 1_000_000
	// The greatest number of bytes in each format. The other formats have no limit.
	most := map[string]int{
		"text": page, "html": page, "svg": page, "markdown": 65_000,
		"mermaid": 101_000, "junit": 60_000, "github": 60_000, "json": 60_000,
	}
	for _, format := range reports.Runs.Formats() {
		var b strings.Builder
		if err := format.Write(&b, []*scenarios.Result{crowded(t)}, reports.Options{}); err != nil {
			t.Errorf("the format %s cannot be written: %v", format.Name, err)
		}
		if limit := most[format.Name]; limit > 0 && b.Len() > limit {
			t.Errorf("a report in the format %s has %d bytes, want at most %d", format.Name, b.Len(), limit)
		}
	}
}

// On a terminal a long timeline is shortened. A note then names the option that shows all
// of it.
func TestLongTimelineIsShortened(t *testing.T) {
	const more = " left out here; --messages shows all."
	for messages, want := range map[bool]bool{false: true, true: false} {
		var b strings.Builder
		if err := textFormat(t).Write(&b, []*scenarios.Result{crowded(t)}, reports.Options{Messages: messages}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), more); got != want {
			t.Errorf("with --messages %v: the note that clauses are left out is there: %v, want the opposite", messages, got)
		}
		if lines := strings.Count(b.String(), "\n"); (lines < 1000) != want {
			t.Errorf("with --messages %v the report has %d lines; a shortened one has fewer than 1000, the whole one more", messages, lines)
		}
	}
}

// textFormat returns the format for terminals.
func textFormat(t *testing.T) reports.Format[reports.Results] {
	for _, format := range reports.Runs.Formats() {
		if format.Name == "text" {
			return format
		}
	}
	t.Fatal("there is no format text")
	return reports.Format[reports.Results]{}
}

func BenchmarkCrowd(b *testing.B) {
	results := []*scenarios.Result{crowded(b)}
	for _, format := range reports.Runs.Formats() {
		b.Run(format.Name, func(b *testing.B) {
			for b.Loop() {
				if err := format.Write(io.Discard, results, reports.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
