package history

import (
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// The size of a jump is the difference between what the clock shows after it, and what it
// would have shown without it.
func TestJumpSize(t *testing.T) {
	clock := func(wall, ppb int64, why trace.ClockChange) trace.Event {
		return trace.Event{Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: wall, RatePPB: ppb, Why: why}}
	}
	h := New(traceEverySecond(clock(0, 500_000_000, ""), clock(11.5e9, 500_000_000, trace.Jumped), clock(3e9, 0, trace.Jumped)))
	want := []time.Duration{-time.Second, 10 * time.Second, -10 * time.Second}
	for i, ev := range h.ClockChanges() {
		if got := h.Clocks().JumpSize(ev); got != want[i] {
			t.Errorf("change %d sets the clock by %v, want %v", i+1, got, want[i])
		}
	}
}
