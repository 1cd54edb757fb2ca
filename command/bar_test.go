package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/explore"
)

func TestBar(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &bar{phase: "single faults", since: now.Add(-10 * time.Second), doneBefore: 100}
	for _, c := range []struct {
		name     string
		p        explore.Progress
		deadline time.Time // zero if the search has none
		want     string
	}{
		// 500 worlds took 10 seconds, so the remaining 1,000 take 20.
		{"the number of worlds is known", explore.Progress{Phase: explore.SingleFaults, Done: 600, Total: 1600, Causes: 3}, time.Time{},
			"[#######.............] single faults: 600 of 1600, 50/s, 20s left, ways so far: 3"},
		{"the phase has run no world yet", explore.Progress{Phase: explore.SingleFaults, Done: 100, Total: 1600}, time.Time{},
			"[#...................] single faults: 100 of 1600, 0/s, ways so far: 0"},
		{"more worlds are done than were expected", explore.Progress{Phase: explore.SingleFaults, Done: 1700, Total: 1600}, time.Time{},
			"[####################] single faults: 1700 of 1600, 160/s, ways so far: 0"},
		{"a deadline is known, the number of worlds is not", explore.Progress{Phase: explore.SeveralFaults, Done: 600}, now.Add(90 * time.Second),
			"several faults: 600, 50/s, 1m30s left, ways so far: 0"},
		{"all worlds will be done before the deadline", explore.Progress{Phase: explore.SeveralFaults, Done: 600, Total: 1600}, now.Add(90 * time.Second),
			"[#######.............] several faults: 600 of 1600, 50/s, 20s left, ways so far: 0"},
		{"the deadline comes before all worlds are done", explore.Progress{Phase: explore.SeveralFaults, Done: 600, Total: 1600}, now.Add(9 * time.Second),
			"[#######.............] several faults: 600 of 1600, 50/s, 9s left, ways so far: 0"},
		{"the deadline does not end the phase shrinking", explore.Progress{Phase: explore.Shrinking, Done: 600}, now.Add(9 * time.Second),
			"shrinking: 600, 50/s, ways so far: 0"},
	} {
		b.deadline = c.deadline
		if got := b.line(c.p, now); got != c.want {
			t.Errorf("%s: the bar is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBarOnATerminalOnly(t *testing.T) {
	p := explore.Progress{Phase: explore.SingleFaults, Done: 1, Total: 2}
	var screen bytes.Buffer
	live := &bar{w: &screen, onTerminal: true}
	live.show(p)
	live.show(p) // this is too soon, so it draws nothing
	const clear = "\r\x1b[K"
	want := clear + "\x1b[?7l[##########..........] single faults: 1 of 2, ways so far: 0\x1b[?7h"
	if screen.String() != want {
		t.Errorf("on a terminal the bar writes %q, want %q", &screen, want)
	}
	live.clear()
	if !strings.HasSuffix(screen.String(), clear) {
		t.Errorf("clear does not clear the line; the terminal got %q", &screen)
	}

	var pipe bytes.Buffer
	elsewhere := newBar(&pipe, time.Time{})
	elsewhere.show(p)
	elsewhere.clear()
	if pipe.Len() > 0 {
		t.Errorf("the bar writes %q into a pipe, want nothing", &pipe)
	}
}
