package history

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// Each list of single events has exactly the events of its subject.
func TestListsOfSingleEvents(t *testing.T) {
	var events []trace.Event
	for _, kind := range []trace.Kind{
		trace.KindCancel, trace.KindLost, trace.KindDone, trace.KindRanOn, trace.KindStrip,
		trace.KindRevert, trace.KindForgetToken, trace.KindSync, trace.KindHorizon,
	} {
		events = append(events, trace.Event{Kind: kind, Process: "client-1"})
	}
	h := New(traceEverySecond(events...))
	for name, c := range map[string]struct {
		list        []*trace.Event
		first, last int
	}{
		"clients":  {h.ClientEvents(), 1, 4},
		"services": {h.ServiceEvents(), 5, 5},
		"storage":  {h.StorageLosses(), 6, 7},
		"disks":    {h.Syncs(), 8, 8},
	} {
		if n := len(c.list); n != c.last-c.first+1 || c.list[0].Seq != c.first || c.list[n-1].Seq != c.last {
			t.Errorf("%s: %d events, want those from %d to %d", name, n, c.first, c.last)
		}
	}
}
