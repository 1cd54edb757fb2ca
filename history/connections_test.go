package history

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/trace"
)

// The end of a connection awaits a reply if a request on it has none. Only the
// first timeout below comes while the client waits.
func TestConnectionEvents(t *testing.T) {
	ev := func(kind trace.Kind, process, peer string, reply bool) trace.Event {
		return trace.Event{Kind: kind, Process: process, Peer: peer, Conn: 1, Reply: reply}
	}
	timeout := ev(trace.KindTimeout, "client-1", "redis-1", false)
	h := New(traceEverySecond(
		ev(trace.KindConnect, "client-1", "redis-1", false),
		ev(trace.KindSend, "client-1", "redis-1", false),
		timeout,
		ev(trace.KindReset, "redis-1", "client-1", false),
		ev(trace.KindDeliver, "client-1", "redis-1", true),
		timeout,
	))
	var got []int
	for _, c := range h.ConnectionEvents() {
		if c.AwaitsReply {
			got = append(got, c.Event.Seq)
		}
	}
	if n := len(h.ConnectionEvents()); n != 4 || !slices.Equal(got, []int{3}) {
		t.Errorf("there are %d connection events, and the events %v await a reply; want 4 and event 3", n, got)
	}
}
