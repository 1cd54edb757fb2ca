package reports

import (
	"regexp"
	"testing"
)

// sgr matches the control sequences that set a colour.
var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func stripColours(s string) string { return sgr.ReplaceAllString(s, "") }

func TestTheZeroPaletteIsPlain(t *testing.T) {
	if got := (Palette{}).bad("x"); got != "x" {
		t.Errorf("the zero palette gives %q, want no colour", got)
	}
	if got := Colour.bad("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("the palette Colour gives %q, want red", got)
	}
}
