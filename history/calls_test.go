package history

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// A call ends, or its client crashes during it, or the run ends first. Its request may have
// been sent more than once.
func TestCalls(t *testing.T) {
	write := func(kind trace.Kind, client string) trace.Event {
		return trace.Event{Kind: kind, Process: client, Section: 1, Step: trace.Write, OK: kind == trace.KindEnd}
	}
	h := New(traceOf(
		write(trace.KindBegin, "client-1"), // 1
		write(trace.KindBegin, "client-2"), // 2
		write(trace.KindAgain, "client-2"), // 3
		write(trace.KindEnd, "client-2"),   // 4
		write(trace.KindAgain, "client-2"), // 5: belongs to no call
		trace.Event{Kind: trace.KindCrash, Process: "client-2"},
		trace.Event{Kind: trace.KindCrash, Process: "client-1"}, // 7
		write(trace.KindBegin, "client-3"),                      // 8
	))
	seq := func(ev *trace.Event) int {
		if ev == nil {
			return 0
		}
		return ev.Seq
	}
	// began, ended and crashed are the numbers of events, or 0; again is how often the request
	// was sent again.
	want := []struct{ began, ended, crashed, again int }{{1, 0, 7, 0}, {2, 4, 0, 1}, {8, 0, 0, 0}}
	calls := h.Calls()
	if len(calls) != len(want) {
		t.Fatalf("there are %d calls, want %d", len(calls), len(want))
	}
	for i, c := range calls {
		if got := (struct{ began, ended, crashed, again int }{seq(c.Began), seq(c.Ended), seq(c.Crashed), len(c.Resent)}); got != want[i] {
			t.Errorf("call %d of %s: %+v, want %+v", i, c.Client, got, want[i])
		}
	}
}
