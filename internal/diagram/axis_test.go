package diagram

import (
	"slices"
	"testing"
	"time"
)

// shownAt returns a diagram that shows something at each of these moments.
func shownAt(moments ...time.Duration) *diagram { return &diagram{moments: moments} }

// Moments keep their order and are drawn apart, whether they are a nanosecond or a day
// apart in time.
func TestAxisKeepsMomentsApart(t *testing.T) {
	moments := []time.Duration{0, 1, time.Microsecond, time.Millisecond, time.Second - 1, time.Minute, 24 * time.Hour}
	a := newAxis(100, []*diagram{shownAt(moments...)})
	for i := 1; i < len(moments); i++ {
		if before, here := a.positionOf(moments[i-1]), a.positionOf(moments[i]); here < before+2 {
			t.Errorf("%v is at %d and %v at %d, want them at least 2 pixels apart, in order", moments[i-1], before, moments[i], here)
		}
	}
	if a.positionOf(0) < 100 || a.positionOf(24*time.Hour) > a.end() {
		t.Errorf("the moments are from %d to %d, want them within the axis, from 100 to %d", a.positionOf(0), a.positionOf(24*time.Hour), a.end())
	}
}

// A moment between two moments of the axis has a position between theirs. No position is
// outside the axis.
func TestAxisBetweenMoments(t *testing.T) {
	a := newAxis(0, []*diagram{shownAt(0, 10*time.Second, 20*time.Second)})
	start, middle, end := a.positionOf(0), a.positionOf(10*time.Second), a.positionOf(20*time.Second)
	if at := a.positionOf(5 * time.Second); at != (start+middle)/2 {
		t.Errorf("a moment half-way between two others is at %d, and they are at %d and %d", at, start, middle)
	}
	if a.positionOf(-time.Second) != start || a.positionOf(time.Hour) != end {
		t.Error("moments outside of the axis are not at its ends")
	}
	if empty := newAxis(0, []*diagram{shownAt()}); empty.positionOf(time.Second) != 0 || empty.end() != 0 {
		t.Error("an axis without moments has positions other than 0")
	}
}

// The axis folds an idle time that is long enough, and does not fold one that is a
// nanosecond shorter.
func TestAxisFoldsIdleStretches(t *testing.T) {
	a := newAxis(0, []*diagram{shownAt(0, minIdle-1, 2*minIdle-1, time.Minute)})
	var lengths []time.Duration
	for _, f := range a.folds {
		lengths = append(lengths, f.length)
		if f.to <= f.from {
			t.Errorf("a fold goes from %d to %d, want the second number to be larger", f.from, f.to)
		}
	}
	if want := []time.Duration{minIdle, time.Minute - 2*minIdle + 1}; !slices.Equal(lengths, want) {
		t.Errorf("the folds have the lengths %v, want %v", lengths, want)
	}
}

// Runs that share an axis have the same position for the same moment, so readers can
// compare them.
func TestRunsShareAnAxis(t *testing.T) {
	off, on := shownAt(0, time.Millisecond, 3*time.Millisecond), shownAt(0, 2*time.Millisecond)
	a := newAxis(0, []*diagram{off, on})
	for _, at := range slices.Concat(off.moments, on.moments) {
		if !slices.Contains(a.moments, at) {
			t.Errorf("the shared axis has no position for the moment %v", at)
		}
	}
}

// Decisions of the storage do not cover each other, however close they are in time.
func TestAxisLeavesRoomForDecisions(t *testing.T) {
	d := shownAt(0, 1, 2, 3)
	for _, at := range d.moments {
		d.decisions = append(d.decisions, decision{at: at, label: "W 123456"})
	}
	a := newAxis(0, []*diagram{d})
	for i := 1; i < len(d.moments); i++ {
		if gap := a.positionOf(d.moments[i]) - a.positionOf(d.moments[i-1]); gap < pillWidth("W 123456") {
			t.Errorf("decisions %d and %d are %d pixels apart, and each is %d wide", i-1, i, gap, pillWidth("W 123456"))
		}
	}
}

func TestScaleDoesNotOverflow(t *testing.T) {
	const day = int64(24 * time.Hour)
	if got := scale(365*day, 2e9, 1e9); got != 730*day {
		t.Errorf("scale doubles a year to %d, want %d", got, 730*day)
	}
	if got := scale(-day, 1e9, 2e9); got != -day/2 {
		t.Errorf("scale halves minus one day to %d, want %d", got, -day/2)
	}
}
