package history

import (
	"fmt"
	"testing"

	"github.com/locksim/locksim/trace"
)

// A run is quiet while no fault acts. Events are one second apart.
func TestQuiet(t *testing.T) {
	strike := func(fault int) trace.Event { return trace.Event{Kind: trace.KindStrike, Fault: fault} }
	instantStrike := trace.Event{Kind: trace.KindStrike, Fault: 9, Instant: true}
	lift := func(fault int) trace.Event { return trace.Event{Kind: trace.KindLift, Fault: fault} }
	other := trace.Event{Kind: trace.KindSync}
	for _, c := range []struct {
		what   string
		events []trace.Event
		times  string // the quiet times, such as "0s-1s"; "3s-" lasts until the end of the run
		since  string // at each event: since when the run has been quiet; "-" if a fault acts
	}{
		{"no fault", []trace.Event{other, other}, "0s-", "0s 0s "},
		{"a fault that is never lifted", []trace.Event{other, strike(1), other}, "0s-1s ", "0s - - "},
		{"a fault that is lifted", []trace.Event{other, strike(1), other, lift(1), other}, "0s-1s 3s-", "0s - - 3s 3s "},
		{"two faults at the same time", []trace.Event{other, strike(1), strike(2), lift(1), lift(2), other}, "0s-1s 4s-", "0s - - - 4s 4s "},
		{"an instant fault", []trace.Event{other, instantStrike, other}, "0s-1s 1s-", "0s 1s 1s "},
		{"an instant fault while another fault acts", []trace.Event{other, strike(1), instantStrike, lift(1), other}, "0s-1s 3s-", "0s - - 3s 3s "},
		{"a fault strikes, is lifted and strikes again", []trace.Event{other, strike(1), lift(1), strike(1), other}, "0s-1s 2s-3s ", "0s - 2s - - "},
	} {
		h := New(numbered(trace.Trace{}, c.events...))
		times, since := "", ""
		for _, q := range h.QuietTimes() {
			if times += fmt.Sprintf("%v-", q.From.At); q.To != Never {
				times += fmt.Sprintf("%v ", q.To.At)
			}
		}
		for i := range c.events {
			if from, quiet := h.QuietSince(MomentOf(h.Event(i + 1))); quiet {
				since += fmt.Sprintf("%v ", from.At)
			} else {
				since += "- "
			}
		}
		if times != c.times || since != c.since {
			t.Errorf("%s: the quiet times are %s, want %s; quiet since, at each event, %s, want %s", c.what, times, c.times, since, c.since)
		}
	}
}
