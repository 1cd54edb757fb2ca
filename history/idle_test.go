package history_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// A node is idle unless the lock keeps a slot there, or a message, a key, a change of a
// clock or a fault concerns it. Events that every node has, such as connections, do not
// count.
func TestIdleNodes(t *testing.T) {
	owner := &trace.Actor{Client: "client-1", Section: 1}
	for name, c := range map[string]struct {
		event trace.Event
		idle  bool
	}{
		"nothing":                       {trace.Event{Kind: trace.KindHorizon}, true},
		"its clock at the start":        {trace.Event{Kind: trace.KindClock, Process: "redis-4", Clocks: &trace.Clocks{}}, true},
		"its disk":                      {trace.Event{Kind: trace.KindSync, Process: "redis-4"}, true},
		"a fault of another":            {trace.Event{Kind: trace.KindStrike, Fault: 2}, true},
		"a message to it":               {trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-4", Text: "PING"}, false},
		"a connection":                  {trace.Event{Kind: trace.KindConnect, Process: "client-1", Peer: "redis-4"}, true},
		"a handshake":                   {trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-4", Text: "HELLO 3", Handshake: true}, true},
		"a key, as on a replica":        {trace.Event{Kind: trace.KindSet, Process: "redis-4", Key: "x", Owner: owner, By: owner}, false},
		"its clock jumps":               {trace.Event{Kind: trace.KindClock, Process: "redis-4", Clocks: &trace.Clocks{Why: "jump"}}, false},
		"a fault strikes it":            {trace.Event{Kind: trace.KindStrike, Fault: 1}, false},
		"it crashes":                    {trace.Event{Kind: trace.KindCrash, Process: "redis-4"}, false},
		"it is paused":                  {trace.Event{Kind: trace.KindPause, Process: "redis-4"}, false},
		"it takes over":                 {trace.Event{Kind: trace.KindPromote, Process: "redis-4", Peer: "redis-1"}, false},
		"its master's place is taken":   {trace.Event{Kind: trace.KindPromote, Process: "redis-1", Peer: "redis-4"}, false},
		"a fault that the trace forgot": {trace.Event{Kind: trace.KindStrike, Fault: 9}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := simtest.NewScript("none", 4)
			s.Locks[0].Slots = s.Locks[0].Slots[:3]
			s.Faults = []trace.FaultInfo{
				{Kind: "partition", Targets: [][]string{{"client-1"}, {"redis-4"}}},
				{Kind: "pause", Targets: [][]string{{"client-1"}}},
			}
			s.Then(c.event)
			var want []string
			if c.idle {
				want = []string{"redis-4"}
			}
			if got := history.New(&s.Trace).IdleNodes(); !slices.Equal(got, want) {
				t.Errorf("idle are %q, want %q", got, want)
			}
		})
	}
}
