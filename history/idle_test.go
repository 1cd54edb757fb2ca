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
// count. Each case is one event; redis-4 is the node without a slot.
func TestIdleNodes(t *testing.T) {
	owner := &trace.Actor{Client: "client-1", Section: 1}
	for name, c := range map[string]struct {
		event trace.Event
		idle  bool
	}{
		"no event about the node":                  {trace.Event{Kind: trace.KindHorizon}, true},
		"the node's clock at the start":            {trace.Event{Kind: trace.KindClock, Process: "redis-4", Clocks: &trace.Clocks{}}, true},
		"the node's disk syncs":                    {trace.Event{Kind: trace.KindSync, Process: "redis-4"}, true},
		"a fault strikes another process":          {trace.Event{Kind: trace.KindStrike, Fault: 2}, true},
		"a message to the node":                    {trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-4", Text: "PING"}, false},
		"a connection to the node":                 {trace.Event{Kind: trace.KindConnect, Process: "client-1", Peer: "redis-4"}, true},
		"a handshake with the node":                {trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-4", Text: "HELLO 3", Handshake: true}, true},
		"a key on the node, as on a replica":       {trace.Event{Kind: trace.KindSet, Process: "redis-4", Key: "x", Owner: owner, By: owner}, false},
		"the node's clock jumps":                   {trace.Event{Kind: trace.KindClock, Process: "redis-4", Clocks: &trace.Clocks{Why: "jump"}}, false},
		"a fault strikes the node":                 {trace.Event{Kind: trace.KindStrike, Fault: 1}, false},
		"the node crashes":                         {trace.Event{Kind: trace.KindCrash, Process: "redis-4"}, false},
		"the node is paused":                       {trace.Event{Kind: trace.KindPause, Process: "redis-4"}, false},
		"the node replaces another":                {trace.Event{Kind: trace.KindPromote, Process: "redis-4", Peer: "redis-1"}, false},
		"another node replaces the node":           {trace.Event{Kind: trace.KindPromote, Process: "redis-1", Peer: "redis-4"}, false},
		"a fault that the trace does not describe": {trace.Event{Kind: trace.KindStrike, Fault: 9}, true},
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
				t.Errorf("the idle nodes are %q, want %q", got, want)
			}
		})
	}
}
