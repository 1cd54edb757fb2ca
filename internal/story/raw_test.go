package story

import (
	"fmt"
	"testing"
)

// All usual ways to print a Raw escape it.
func TestRawIsEscaped(t *testing.T) {
	const hostile, shown = Raw("a\x1b[31m\n\u202eb\xff\u2028c"), `a\x1b[31m\n\u202eb\xff\u2028c`
	for _, c := range []struct{ got, want string }{
		{hostile.String(), shown},
		{fmt.Sprint(hostile), shown},
		{fmt.Sprintf("%s %v", "the "+hostile, hostile), "the " + shown + " " + shown},
		{Raw("gets the lock: token 7 → 8…").String(), "gets the lock: token 7 → 8…"},
	} {
		if c.got != c.want {
			t.Errorf("printed as %q, want %q", c.got, c.want)
		}
	}
}

// In a quotation, times and tokens are written as on the timeline; names that look like
// numbers stay as they are.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"gave up after 1.234567891s":           "gave up after 1.234s",
		"gave up after 2s":                     "gave up after 2s",
		"token 17999999999999 is older than 3": "token …9999999 is older than 3",
		"client-1s and a1.5s stay":             "client-1s and a1.5s stay",
	} {
		if got := Quoted(text); got != want {
			t.Errorf("Quoted(%q) is %q, want %q", text, got, want)
		}
	}
}
