package history

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// Each call of a client is one step, from its beginning to its end.
func TestCallsOfClients(t *testing.T) {
	h := New(numbered(trace.Trace{},
		beginEvent("client-1", trace.Acquire),
		beginEvent("client-2", trace.Acquire),
		trace.Event{Kind: trace.KindCancel, Process: "client-1", Step: trace.Acquire},
		endEvent("client-1", trace.Acquire, false),
		endEvent("client-2", trace.Acquire, true),
		beginEvent("client-1", trace.Acquire),
		endEvent("client-2", trace.Extend, true), // the lock extended the lease by itself
	))
	type callFacts struct {
		client                  string
		nth                     int
		began, ended, cancelled int // the numbers of the events, or 0
		ok, failed              bool
	}
	seq := func(ev *trace.Event) int {
		if ev == nil {
			return 0
		}
		return ev.Seq
	}
	want := []callFacts{
		{"client-1", 1, 1, 4, 3, false, true},
		{"client-2", 1, 2, 5, 0, true, false},
		{"client-1", 2, 6, 0, 0, false, false},
		{"client-2", 0, 0, 7, 0, true, false},
	}
	for i, c := range h.Calls() {
		got := callFacts{c.Client, c.Nth, seq(c.Began), seq(c.Ended), seq(c.Cancelled), c.OK(), c.Failed()}
		if i >= len(want) || got != want[i] {
			t.Errorf("call %d is %+v, want the calls %+v", i, got, want)
		}
	}
	if n := len(h.Calls()); n != len(want) {
		t.Errorf("there are %d calls, want %d", n, len(want))
	}
}
