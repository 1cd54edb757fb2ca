package simtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// Events returns the events of one kind of one process, in their order.
func Events(tr *trace.Trace, kind trace.Kind, process string) []trace.Event {
	var found []trace.Event
	for _, ev := range tr.Events {
		if ev.Kind == kind && ev.Process == process {
			found = append(found, ev)
		}
	}
	return found
}

// OnlyEvent returns the event of a kind of a process. The test fails unless there is
// exactly one.
func OnlyEvent(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) trace.Event {
	t.Helper()
	found := Events(tr, kind, process)
	if len(found) != 1 {
		t.Fatalf("%d events %q of %s, want 1\n%s", len(found), kind, process, Dump(tr))
	}
	return found[0]
}

// FirstEvent returns the first event of a kind of a process. The test fails if there is
// none.
func FirstEvent(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) trace.Event {
	t.Helper()
	found := Events(tr, kind, process)
	if len(found) == 0 {
		t.Fatalf("no event %q of %s\n%s", kind, process, Dump(tr))
	}
	return found[0]
}

// NoEvents fails the test if there is an event of a kind of a process.
func NoEvents(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) {
	t.Helper()
	if n := len(Events(tr, kind, process)); n > 0 {
		t.Errorf("%d events %q of %s, want none\n%s", n, kind, process, Dump(tr))
	}
}

// AllFaultsStruck fails the test if a fault of the world did not act.
func AllFaultsStruck(t *testing.T, tr *trace.Trace) {
	t.Helper()
	for i, f := range tr.Faults {
		if f.IdleReason != "" {
			t.Errorf("fault %d (%s) did not act: %s", i+1, f.Text, f.IdleReason)
		}
	}
}

// Dump returns the events of a trace as text, one on each line.
func Dump(tr *trace.Trace) string {
	var b []byte
	for _, e := range tr.Events {
		b = fmt.Appendf(b, "%4d %14v %-8s %-9s %-9s conn %d msg %d %s %s %s\n", e.Seq, e.At, e.Kind, e.Process, e.Peer, e.Conn, e.Msg, e.Text, e.Key, e.Value)
	}
	return string(b)
}

// EqualTime fails the test if two times differ by more than a microsecond. Small
// differences do not matter: the simulator lets no two things happen in the same
// nanosecond, and delays one of them.
func EqualTime(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if late := got - want; late < 0 || late > time.Microsecond {
		t.Errorf("%s at %v, want %v", what, got, want)
	}
}

// Equal fails the test if two values differ.
func Equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
