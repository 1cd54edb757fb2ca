package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
)

// A bar is the progress bar of a search. It is shown only on a terminal: in a pipe or in CI
// it writes nothing.
type bar struct {
	w          io.Writer
	onTerminal bool

	// deadline is when the search ends at the latest; zero if that is unknown.
	deadline time.Time

	mu    sync.Mutex
	shown time.Time
	// phase is the current phase of the search, since is when it began, and doneBefore is
	// how many worlds were done at that time.
	phase      explore.Phase
	since      time.Time
	doneBefore int
}

// newBar returns the bar of a search that ends at a time; the zero time means that the end
// is unknown.
func newBar(w io.Writer, until time.Time) *bar {
	return &bar{w: w, onTerminal: isTerminal(w), deadline: until}
}

// refresh is the shortest time between two drawings of the bar.
const refresh = 200 * time.Millisecond

// show draws the bar, unless it has drawn the same phase less than refresh ago.
func (b *bar) show(p explore.Progress) {
	if !b.onTerminal {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if p.Phase != b.phase {
		b.phase, b.since, b.doneBefore = p.Phase, now, p.Done
	} else if now.Sub(b.shown) < refresh {
		return
	}
	b.shown = now
	// The escape sequence makes the terminal cut off a line that is too long. If the line
	// wrapped, clear could not remove all of it.
	fmt.Fprintf(b.w, "\r\x1b[K\x1b[?7l%s\x1b[?7h", b.line(p, now))
}

// showFirst prints the first world (one simulation, with its faults) in which the lock breaks;
// tried is how many worlds were tried until then.
func (b *bar) showFirst(w runs.WorldSpec, tried int) {
	if !b.onTerminal {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	words := make([]string, len(w.Faults))
	for i, f := range w.Faults {
		words[i] = f.String()
	}
	fmt.Fprintf(b.w, "\r\x1b[Kthe lock breaks in world %d: %s\n", tried, strings.Join(words, " and "))
}

// line returns the text of the bar: how much is done, the total, the rate, and the time
// left.
func (b *bar) line(p explore.Progress, now time.Time) string {
	var s strings.Builder
	if p.Total > 0 {
		const width = 20
		full := min(width, width*p.Done/p.Total)
		fmt.Fprintf(&s, "[%s%s] ", strings.Repeat("#", full), strings.Repeat(".", width-full))
	}
	fmt.Fprintf(&s, "%s: %d", strings.ReplaceAll(string(p.Phase), "-", " "), p.Done)
	if p.Total > 0 {
		fmt.Fprintf(&s, " of %d", p.Total)
	}
	rate := 0.0
	if took := now.Sub(b.since).Seconds(); took > 1 {
		rate = float64(p.Done-b.doneBefore) / took
		fmt.Fprintf(&s, ", %.0f/s", rate)
	}
	if left, known := b.timeLeft(p, now, rate); known {
		fmt.Fprintf(&s, ", %v left", left.Round(time.Second))
	}
	fmt.Fprintf(&s, ", ways so far: %d", p.Causes)
	return s.String()
}

// timeLeft estimates the time until the end of the phase: until all its worlds are done, or
// until the deadline if that is sooner. known is false if there is no estimate.
func (b *bar) timeLeft(p explore.Progress, now time.Time, rate float64) (left time.Duration, known bool) {
	if p.Total > p.Done && rate > 0 {
		left, known = time.Duration(float64(p.Total-p.Done)/rate*float64(time.Second)), true
	}
	if untilDeadline := b.deadline.Sub(now); p.Phase == explore.SeveralFaults && !b.deadline.IsZero() && (!known || untilDeadline < left) {
		left, known = max(untilDeadline, 0), true
	}
	return left, known
}

// clear removes the bar from the terminal, so that a report can follow.
func (b *bar) clear() {
	if b.onTerminal {
		b.mu.Lock()
		defer b.mu.Unlock()
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
