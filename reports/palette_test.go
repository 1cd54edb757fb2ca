package reports

import (
	"regexp"
	"testing"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func stripColours(s string) string { return sgr.ReplaceAllString(s, "") }

func TestTheZeroPaletteIsPlain(t *testing.T) {
	if got := (Palette{}).bad("x"); got != "x" {
		t.Errorf("got %q", got)
	}
	if got := Colour.bad("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
}
