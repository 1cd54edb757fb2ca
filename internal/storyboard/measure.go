package storyboard

import (
	"strings"

	"github.com/locksim/locksim/internal/textwrap"
)

// textWidth returns the greatest number of pixels that a text needs in any usual sans-serif font.
// The widths are those of DejaVu Sans, which is wider than the fonts of the systems and browsers in
// use.
func textWidth(s string, size int, bold bool) int {
	units := 0
	for _, r := range s {
		units += charWidth(r)
	}
	if bold {
		units = units * 112 / 100
	}
	return (units*size + 99) / 100
}

// charWidth returns the width of a character in hundredths of the font's size.
func charWidth(r rune) int {
	switch {
	case r >= 0x1100:
		return 105
	case strings.ContainsRune("iIjl.,:;'|! ", r):
		return 36
	case strings.ContainsRune("ftr()[]-/", r):
		return 44
	case strings.ContainsRune("mwMW@%…", r), r >= 0x2000:
		return 100
	case 'A' <= r && r <= 'Z':
		return 76
	}
	return 65
}

// splitWords returns the words of a text. A number stays with the word before it, as in
// "token 1", unless a comma separates them.
func splitWords(s string) []string {
	var words []string
	for _, word := range strings.Fields(s) {
		if n := len(words); n > 0 && '0' <= word[0] && word[0] <= '9' && !strings.HasSuffix(words[n-1], ",") {
			words[n-1] += " " + word
			continue
		}
		words = append(words, word)
	}
	return words
}

// wrap breaks a text into lines of at most width pixels, and at most limit lines. If a word is
// wider than a line, wrap shortens it and returns false for fits. The last line ends in "…" if the
// text does not fit.
func wrap(s string, width, limit, size int, bold bool) (lines []string, fits bool) {
	fits = true
	line := ""
	for _, word := range splitWords(s) {
		for textWidth(word, size, bold) > width {
			n := len([]rune(word))
			if n < 4 {
				break
			}
			word, fits = textwrap.Clip(strings.TrimSuffix(word, "…"), n-2), false
		}
		switch {
		case line == "":
			line = word
		case textWidth(line+" "+word, size, bold) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	if len(lines) > limit {
		last := []rune(lines[limit-1] + " …")
		for len(last) > 3 && textWidth(string(last), size, bold) > width {
			last = append(last[:len(last)-3], ' ', '…')
		}
		lines, fits = append(lines[:limit-1], strings.ReplaceAll(string(last), "  …", " …")), false
	}
	return lines, fits
}
