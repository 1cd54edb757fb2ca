package textwrap

import "testing"

func TestWrapKeepsLongWordsWhole(t *testing.T) {
	got := Wrap("a bb averyverylongword c", 6, 2)
	if want := "a bb\n  averyverylongword\n  c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
