package reports_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
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

// On a terminal the timeline of a crowd fits two screens, and a note names the option that
// shows all of it.
func TestCrowdIsFolded(t *testing.T) {
	const note = " rows folded into those for several clients; --messages shows all."
	for messages, want := range map[bool]bool{false: true, true: false} {
		var b strings.Builder
		if err := textFormat(t).Write(&b, []*scenarios.Result{crowded(t)}, reports.Options{Messages: messages}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), note); got != want {
			t.Errorf("with --messages %v: the note that rows are folded is there: %v, want the opposite", messages, got)
		}
		if lines := strings.Count(b.String(), "\n"); (lines < 300) != want {
			t.Errorf("with --messages %v the report has %d lines; a folded one has fewer than 300, the whole one more", messages, lines)
		}
	}
}

// What the violations and the fault of a crowd's run are about is shown by itself: every
// step of the client that is paused, and of the client that writes meanwhile.
func TestCrowdShowsItsViolations(t *testing.T) {
	text := writtenIn(t, "text", reports.Options{Width: 200}, crowded(t))
	run := crowded(t).Runs[0]
	if len(run.Verdict.Violations()) == 0 {
		t.Fatal("the crowd violates nothing")
	}
	for _, finding := range run.Verdict.Violations() {
		for _, seq := range finding.Events {
			ev := run.History.Event(seq)
			if ev.Kind != trace.KindServe && ev.Kind != trace.KindEnd {
				continue // not a row
			}
			if !strings.Contains(text, story.Moment(ev.At, 3)+"  "+ev.Process) {
				t.Errorf("%s: event %d, at %s of %s, has no row of its own", finding.Property, seq, ev.At, ev.Process)
			}
		}
	}
	for _, row := range []string{"client-25   gets the lock", "client-25   is paused (fault 1)", "client-25   its lease ends", "client-5    has worked", "client-25   resumes after 3s"} {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q", row)
		}
	}
}

// Six clients are no crowd: each of their rows is shown.
func TestFewClientsAreNotFolded(t *testing.T) {
	for clients, want := range map[int]bool{6: false, 7: true} {
		text := "title: Some clients\nlock: {kind: single, ttl: 10s}\nclients:\n"
		for i := range clients {
			text += fmt.Sprintf("  client-%d: {sections: 3, retry-every: 1s}\n", i+1)
		}
		if got := strings.Contains(writtenIn(t, "text", reports.Options{}, runText(t, "some.yaml", text)), "folded"); got != want {
			t.Errorf("%d clients are folded: %v, want %v", clients, got, want)
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
