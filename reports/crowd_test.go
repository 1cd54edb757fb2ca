package reports_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// crowdedStory is too large to be drawn in full: fifty clients want one lock, seven
// times each, and one of them is paused past the end of its lease.
const crowdedStory = `title: Fifty clients want one lock, and one of them oversleeps
assumption: process
lock: {kind: single, ttl: 2s}
clients:
%sfaults:
  - before: client-25 write
    pause: client-25
    for: 3s
`

var runCrowd = sync.OnceValues(func() (*scenarios.Result, error) {
	var clients strings.Builder
	for i := range 50 {
		fmt.Fprintf(&clients, "  client-%d: {sections: 7, works: 40ms, retry-every: 350ms, retry: jitter}\n", i+1)
	}
	s, err := scenarios.Parse("crowd.yaml", fmt.Appendf(nil, crowdedStory, clients.String()))
	if err != nil {
		return nil, err
	}
	return scenarios.Run(s, scenarios.RunOptions{Seed: 1})
})

// crowded is a result with some 20,000 events in each of its two runs. Nobody may
// change it.
func crowded(t testing.TB) *scenarios.Result {
	t.Helper()
	r, err := runCrowd()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A crowd is as large as what reports must be able to show.
func TestCrowdIsLarge(t *testing.T) {
	for _, run := range crowded(t).Runs {
		if n := len(run.History.Trace.Events); n < 19_000 {
			t.Errorf("fencing %s: there are only %d events", run.Fencing, n)
		}
	}
}

// A page, a diagram or a summary of a crowd is one that somebody can still open: a
// comment on GitHub takes 65,000 characters, Mermaid draws 50,000 characters of each run. The timeline is as long
// as the story, but not as what there is behind it; and a trace is everything.
func TestCrowdIsShownWithinBounds(t *testing.T) {
	const page = 1_000_000
	most := map[string]int{
		"text": page, "html": page, "svg": page, "markdown": 65_000,
		"mermaid": 101_000, "junit": 60_000, "github": 60_000, "json": 60_000,
	}
	for _, format := range reports.Runs.Formats() {
		var b strings.Builder
		if err := format.Write(&b, []*scenarios.Result{crowded(t)}, reports.Options{}); err != nil {
			t.Errorf("%s: %v", format.Name, err)
		}
		if limit := most[format.Name]; limit > 0 && b.Len() > limit {
			t.Errorf("%s takes %d bytes, and more than %d are too many", format.Name, b.Len(), limit)
		}
	}
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
