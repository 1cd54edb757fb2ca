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
		name  string
		p     explore.Progress
		until time.Time
		want  string
	}{
		// 500 worlds took 10 seconds, so the remaining 1,000 take 20.
		{"worlds", explore.Progress{Phase: explore.SingleFaults, Done: 600, Total: 1600, Causes: 3}, time.Time{},
			"[#######.............] single faults: 600 of 1600, 50/s, 20s left, ways so far: 3"},
		{"nothing done yet", explore.Progress{Phase: explore.SingleFaults, Done: 100, Total: 1600}, time.Time{},
			"[#...................] single faults: 100 of 1600, 0/s, ways so far: 0"},
		{"more than were thought", explore.Progress{Phase: explore.SingleFaults, Done: 1700, Total: 1600}, time.Time{},
			"[####################] single faults: 1700 of 1600, 160/s, ways so far: 0"},
		{"until the time is over", explore.Progress{Phase: explore.SeveralFaults, Done: 600}, now.Add(90 * time.Second),
			"several faults: 600, 50/s, 1m30s left, ways so far: 0"},
		{"the worlds are done first", explore.Progress{Phase: explore.SeveralFaults, Done: 600, Total: 1600}, now.Add(90 * time.Second),
			"[#######.............] several faults: 600 of 1600, 50/s, 20s left, ways so far: 0"},
		{"the time is over first", explore.Progress{Phase: explore.SeveralFaults, Done: 600, Total: 1600}, now.Add(9 * time.Second),
			"[#######.............] several faults: 600 of 1600, 50/s, 9s left, ways so far: 0"},
		{"what comes after has no such end", explore.Progress{Phase: explore.Shrinking, Done: 600}, now.Add(9 * time.Second),
			"shrinking: 600, 50/s, ways so far: 0"},
	} {
		b.deadline = c.until
		if got := b.line(c.p, now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBarOnATerminalOnly(t *testing.T) {
	p := explore.Progress{Phase: explore.SingleFaults, Done: 1, Total: 2}
	var screen bytes.Buffer
	live := &bar{w: &screen, onTerminal: true}
	live.show(p)
	live.show(p) // a moment later
	const clear = "\r\x1b[K"
	want := clear + "\x1b[?7l[##########..........] single faults: 1 of 2, ways so far: 0\x1b[?7h"
	if screen.String() != want {
		t.Errorf("on a terminal: %q, want %q", &screen, want)
	}
	live.clear()
	if !strings.HasSuffix(screen.String(), clear) {
		t.Errorf("it does not clear the line: %q", &screen)
	}

	var pipe bytes.Buffer
	elsewhere := newBar(&pipe, time.Time{})
	elsewhere.show(p)
	elsewhere.clear()
	if pipe.Len() > 0 {
		t.Errorf("in a pipe: %q", &pipe)
	}
}
