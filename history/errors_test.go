package history_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// twoNodes returns the run of one client with a lock on two nodes, whose slots are listed as
// redis-b and then redis-a.
func twoNodes(events ...trace.Event) *history.History {
	for i := range events {
		events[i].Seq, events[i].Process, events[i].Section = i+1, "client-1", max(events[i].Section, 1)
	}
	return history.New(&trace.Trace{
		Locks:  []trace.LockInfo{{Name: "l", Slots: []trace.SlotInfo{{Node: "redis-b"}, {Node: "redis-a"}}}},
		Events: events,
	})
}

// FailureText leaves out the words that say only that a step failed, and replaces the
// numbers of nodes by their names.
func TestFailureText(t *testing.T) {
	errorText := func(err error) string {
		return fmt.Errorf("%w: node 1: taken, node 2: timed out, node 3: gone", err).Error()
	}
	const named = "redis-b: taken, redis-a: timed out, node 3: gone"
	for _, c := range []struct {
		step       trace.Step
		text, want string
	}{
		{trace.Acquire, errorText(locks.ErrNotAcquired), named},
		{trace.Mint, errorText(locks.ErrNoToken), "node 1: taken, node 2: timed out, node 3: gone"},
		{trace.Release, errorText(locks.ErrLost), "lock lost: " + named},
		{trace.Extend, errorText(locks.ErrLost), errorText(locks.ErrLost)}, // the error may be about nodes that have no slot
		{trace.Acquire, locks.ErrNotAcquired.Error(), locks.ErrNotAcquired.Error()},
		{trace.Acquire, "my node 1: taken, " + locks.ErrNotAcquired.Error(), "my redis-b: taken, " + locks.ErrNotAcquired.Error()},
		{trace.Write, errorText(locks.ErrNotAcquired), errorText(locks.ErrNotAcquired)},
	} {
		h := twoNodes(
			trace.Event{Kind: trace.KindBegin, Step: trace.Acquire, Lock: "l"},
			trace.Event{Kind: trace.KindEnd, Step: trace.Acquire, OK: c.step != trace.Acquire, Text: c.text},
			trace.Event{Kind: trace.KindBegin, Step: c.step, Lock: "l"},
			trace.Event{Kind: trace.KindEnd, Step: c.step, Text: c.text},
		)
		failed := 0
		for _, call := range h.Calls() {
			if call.Failed() {
				failed++
				if got := h.FailureText(call); got != c.want {
					t.Errorf("%s: the failure text of %q is %q, want %q", c.step, c.text, got, c.want)
				}
			}
		}
		if failed == 0 {
			t.Errorf("%s: %q: no call has failed, want at least one", c.step, c.text)
		}
	}
}

// A program ends because of the first of its own calls that failed with the error with
// which the program ended.
func TestCauseOfEnd(t *testing.T) {
	for _, c := range []struct {
		text   string
		step   trace.Step // the step of the call that caused the end
		before string     // the text that the program put before the error
	}{
		{"timed out", trace.Read, ""},
		{"the balance is unknown: timed out", trace.Read, "the balance is unknown"},
		{"timed out, in the end", "", ""},
		{"lost", trace.Extend, ""},
		{"too late", "", ""}, // a call that fails afterwards cannot be the cause
		{"", "", ""},
	} {
		h := twoNodes(
			trace.Event{Kind: trace.KindBegin, Step: trace.Write},
			trace.Event{Kind: trace.KindBegin, Step: trace.Read},
			trace.Event{Kind: trace.KindEnd, Step: trace.Read, Text: "timed out"},
			trace.Event{Kind: trace.KindEnd, Step: trace.Write, Text: "timed out"}, // the call of another handle
			trace.Event{Kind: trace.KindEnd, Step: trace.Extend, Text: "lost"},
			trace.Event{Kind: trace.KindDone, Text: c.text},
			trace.Event{Kind: trace.KindEnd, Step: trace.Release, Text: "too late"},
		)
		call, before := h.CauseOfEnd(h.Event(6))
		var step trace.Step
		if call != nil {
			step = call.Step
		}
		if step != c.step || before != c.before {
			t.Errorf("%q: got the text %q before the error of %q, want %q before the error of %q", c.text, before, step, c.before, c.step)
		}
	}
}

// A client may meet an error, continue, and meet the same error again later. Then the last
// acquisition with that error has ended its program, and in it the first call that failed.
func TestCauseOfEndAfterAnEarlierFailure(t *testing.T) {
	fails := func(section int, step trace.Step) []trace.Event {
		return []trace.Event{
			{Kind: trace.KindBegin, Section: section, Step: step},
			{Kind: trace.KindEnd, Section: section, Step: step, Text: "timed out"},
		}
	}
	events := slices.Concat(
		fails(1, trace.Acquire), fails(2, trace.Acquire), fails(3, trace.Read), fails(3, trace.Write),
		[]trace.Event{{Kind: trace.KindDone, Section: 3, Text: "timed out"}},
	)
	h := twoNodes(events...)
	call, _ := h.CauseOfEnd(h.Last())
	if call == nil || call.Section != 3 || call.Step != trace.Read {
		t.Errorf("the program ended because of %+v, want the read of section 3", call)
	}
}

// NotHeld finds the error text of package locks anywhere in an error.
func TestNotHeld(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
		want bool
	}{
		{text: locks.ErrLost.Error(), want: true},
		{text: fmt.Errorf("%w before it was released", locks.ErrLost).Error(), want: true},
		{text: fmt.Errorf("lock not released: %w with its connection", locks.ErrLost).Error(), want: true},
		{text: "lock not released: read tcp redis-1: connection reset by peer"},
		{text: "context deadline exceeded"},
		{ok: true},
	} {
		call := &history.Call{Step: trace.Release, Ended: &trace.Event{Step: trace.Release, OK: c.ok, Text: c.text}}
		if got := history.NotHeld(call); got != c.want {
			t.Errorf("NotHeld of a release with success %v and the error %q is %v, want %v", c.ok, c.text, got, c.want)
		}
	}
}
