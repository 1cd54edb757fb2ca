package history

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// A fault that has a request stand still says with which event, until it is over.
func TestStalled(t *testing.T) {
	stall := trace.Event{Kind: trace.KindStall, Process: trace.StorageName, Fault: 2}
	acts := Of(byHand(
		trace.Event{Kind: trace.KindStrike, Fault: 1},
		trace.Event{Kind: trace.KindStrike, Fault: 2},
		stall, // 3
		trace.Event{Kind: trace.KindLift, Fault: 2},
		stall, // the fault is over
	)).Acts()
	if len(acts) != 2 || acts[0].Stalled != nil || acts[1].Stalled == nil || acts[1].Stalled.Seq != 3 {
		t.Errorf("the faults acted so: %+v", acts)
	}
}
