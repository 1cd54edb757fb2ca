package command

import (
	"bytes"
	"testing"
)

func TestProgress(t *testing.T) {
	var screen bytes.Buffer
	live := &progress{w: &screen, onTerminal: true, total: 2}
	live.next("gc-pause")
	live.next("\x1b[2Jx")
	live.clear()
	const start = "\r\x1b[K"
	if want := start + "1 of 2: gc-pause" + start + `2 of 2: \x1b[2Jx` + start; screen.String() != want {
		t.Errorf("on a terminal the progress is written as %q, want %q", &screen, want)
	}

	var pipe bytes.Buffer
	elsewhere := newProgress(&pipe, 2)
	elsewhere.next("gc-pause")
	elsewhere.clear()
	if pipe.Len() > 0 {
		t.Errorf("the progress writes %q into a pipe, want nothing", &pipe)
	}
}
