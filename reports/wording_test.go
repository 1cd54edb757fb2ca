package reports

import (
	"testing"
	"time"
)

func TestScaleDoesNotOverflowOnTheWay(t *testing.T) {
	const day = int64(24 * time.Hour)
	if got := scale(365*day, 2e9, 1e9); got != 730*day {
		t.Errorf("got %d", got)
	}
	if got := scale(-day, 1e9, 2e9); got != -day/2 {
		t.Errorf("got %d", got)
	}
}

func TestWrapKeepsLongWordsWhole(t *testing.T) {
	got := wrap("a bb averyverylongword c", 6, 2)
	if want := "a bb\n  averyverylongword\n  c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
