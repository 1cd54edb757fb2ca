package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
	"github.com/locksim/locksim/trace/tracetest"
)

// A node has a part in a run by what a lock keeps there, by a message, a key, a clock
// or a fault; not by what every node does.
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
			s := tracetest.New("none", 4)
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
			if got := idleNodes(history.Of(&s.Trace)); !slices.Equal(got, want) {
				t.Errorf("idle are %q, want %q", got, want)
			}
		})
	}
}

// durable has a node with a setting of its own.
const durable = `title: One node writes everything to its disk
lock: {kind: redlock, ttl: 10s, nodes: 3}
nodes: {redis-2: {persistence: always}}
clients: {client-1: {}}
`

// With a lock that needs one node, the other four of a story are nowhere to be seen,
// unless a fault strikes them.
func TestOtherLockOtherNodes(t *testing.T) {
	for _, c := range []struct {
		scenario, lock string
		lanes          string
		setting        string
	}{
		{"gc-pause", "", "client-1 client-2 storage redis-1 redis-2 redis-3 redis-4 redis-5", "redlock on 5 nodes"},
		{"gc-pause", "single", "client-1 client-2 storage redis-1", "single on 1 node"},
		{"gc-pause", "none", "client-1 client-2 storage", "none: everybody is let in"},
		{"clock-jump", "single", "client-1 client-2 storage redis-1 redis-3 redis-4 redis-5", "single on 1 node"},
		{"crash-restart-always", "single", "client-1 client-2 storage redis-1 redis-3 redis-4 redis-5", "single on 1 node"},
		{"durable", "redlock", "client-1 storage redis-1 redis-2 redis-3", "redlock on 3 nodes"},
		{"durable", "single", "client-1 storage redis-1", "single on 1 node"},
	} {
		t.Run(strings.TrimSuffix(c.scenario+"/"+c.lock, "/"), func(t *testing.T) {
			s, err := scenarios.Open(c.scenario)
			if c.scenario == "durable" {
				s, err = scenarios.Parse("durable.yaml", []byte(durable))
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: c.lock})
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range r.Runs {
				if got := strings.Join(newDiagram(run, everything).lanes, " "); got != c.lanes {
					t.Errorf("fencing %s: the lanes are %s, want %s", run.Fencing, got, c.lanes)
				}
				if got := cast(run.History.Trace)[0]; got.about != "lock" || !strings.HasPrefix(string(got.text), c.setting) {
					t.Errorf("the header says %q of the lock, want %q", got.text, c.setting)
				}
				for _, row := range setting(run, 1) {
					if strings.HasPrefix(string(row.about), "redis-") && !strings.Contains(c.lanes, string(row.about)) {
						t.Errorf("the setting speaks of %s, which takes no part", row.about)
					}
				}
			}
		})
	}
}
