package history

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// An act has the event with which its fault stalled a request. A stall after the end of the
// fault does not belong to it.
func TestActsWithAStall(t *testing.T) {
	stall := trace.Event{Kind: trace.KindStall, Process: trace.StorageName, Fault: 2}
	acts := New(traceOf(
		trace.Event{Kind: trace.KindStrike, Fault: 1},
		trace.Event{Kind: trace.KindStrike, Fault: 2},
		stall, // 3
		trace.Event{Kind: trace.KindLift, Fault: 2},
		stall, // the fault has ended before
	)).Acts()
	if len(acts) != 2 || acts[0].Stalled != nil || acts[1].Stalled == nil || acts[1].Stalled.Seq != 3 {
		t.Errorf("the acts are %+v, want two, of which the second stalled a request with event 3", acts)
	}
}
