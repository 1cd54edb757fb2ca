package playground_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/playground"
)

// timeline returns the timelines of a scenario, with every message if all is true.
func timeline(t *testing.T, scenario, fencing string, all bool) playground.Timeline {
	t.Helper()
	return serve[playground.Timeline](t, playground.Request{Kind: playground.TimelineKind, Scenario: scenario, Fencing: fencing, Seed: 1, All: all})
}

// rowsOf counts the rows of a timeline.
func rowsOf(t playground.Timeline) int {
	n := 0
	for _, part := range t.Parts {
		n += len(part.Rows) + part.LeftOut
	}
	return n
}

// What the runs have in common is there once, and then what each run has alone.
func TestTimelineParts(t *testing.T) {
	both := timeline(t, "gc-pause", "", false)
	var runs []string
	for _, part := range both.Parts {
		runs = append(runs, strings.Join(part.Runs, "+"))
	}
	if want := []string{"without fencing+with fencing", "without fencing", "with fencing"}; !slices.Equal(runs, want) {
		t.Fatalf("the parts are %q, want %q", runs, want)
	}
	paused := slices.IndexFunc(both.Parts[0].Rows, func(r playground.TimelineRow) bool { return strings.HasPrefix(r.Text, "is paused") })
	if paused < 0 || both.Parts[0].Rows[paused+1].Wait != "29.7s pass" {
		t.Errorf("the common rows do not say that client-1 is paused, and that 29.7s pass: %+v", both.Parts[0].Rows)
	}
	if text := both.Parts[2].Rows[0].Text; !strings.HasPrefix(text, "refuses client-1's write") {
		t.Errorf("with fencing, the first row is %q", text)
	}
	if one := timeline(t, "gc-pause", "off", false); len(one.Parts) != 1 || rowsOf(one) != len(both.Parts[0].Rows)+len(both.Parts[1].Rows) {
		t.Errorf("the timeline of the run without fencing has %d parts and %d rows", len(one.Parts), rowsOf(one))
	}
}

// A long run repeats itself. Its timeline is short, and the reader can still have all of it.
func TestTimelineMergesRepetitions(t *testing.T) {
	merged, all := timeline(t, "same-majority-down", "", false), timeline(t, "same-majority-down", "", true)
	if rowsOf(merged)*10 > rowsOf(all) {
		t.Errorf("merged, the timeline has %d rows; with every message it has %d, want at least ten times as many", rowsOf(merged), rowsOf(all))
	}
	if !strings.HasSuffix(all.Replay, " --messages") || strings.HasSuffix(merged.Replay, " --messages") {
		t.Errorf("the commands are %q and %q", merged.Replay, all.Replay)
	}
	for _, part := range all.Parts {
		if len(part.Rows) > 2000 {
			t.Errorf("a part has %d rows", len(part.Rows))
		}
	}
}

// What many clients do alike is one row, as in the reports.
func TestTimelineFoldsACrowd(t *testing.T) {
	isOfMany := func(r playground.TimelineRow) bool {
		return strings.HasSuffix(r.Who, " clients") && strings.HasPrefix(r.Text, "each ")
	}
	const crowd = `
title: Twelve clients poll one lock
lock: {kind: single, ttl: 40s}
clients:
  client-1 to client-12: {works: 2s}
`
	ask := func(all bool) playground.Timeline {
		return serve[playground.Timeline](t, playground.Request{Kind: playground.TimelineKind, Text: crowd, Fencing: "off", Seed: 1, All: all})
	}
	folded, all := ask(false), ask(true)
	if !slices.ContainsFunc(folded.Parts[0].Rows, isOfMany) || rowsOf(folded) > 60 {
		t.Errorf("none of the %d rows is about many clients, or they are too many", rowsOf(folded))
	}
	if slices.ContainsFunc(all.Parts[0].Rows, isOfMany) {
		t.Error("with every message, a row is about many clients")
	}
}
