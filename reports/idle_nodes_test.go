package reports

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/scenarios"
)

// durable is a scenario in which one node has a different setting.
const durable = `title: One node writes everything to its disk
lock: {kind: redlock, ttl: 10s, nodes: 3}
nodes: {redis-2: {persistence: always}}
clients: {client-1: {}}
`

// If a lock needs only one node, reports do not show the other four nodes of a scenario,
// unless a fault strikes one of them.
func TestIdleNodesAreNotShown(t *testing.T) {
	for _, c := range []struct {
		scenario, lock string
		lanes          string // of the diagram
		setting        string // the beginning of the line about the lock
	}{
		{"gc-pause", "", "client-1 client-2 storage redis-1 redis-2 redis-3 redis-4 redis-5", "redlock on 5 nodes"},
		{"gc-pause", "single", "client-1 client-2 storage redis-1", "single on 1 node"},
		{"durable", "none", "client-1 storage", "none: no lock, every client enters its section"},
		{"clock-jump", "single", "client-1 client-2 storage redis-1", "single on 1 node"}, // redis-1 represents redis-3
		{"same-clock-jump", "single", "client-1 client-2 storage redis-1 redis-2", "single on 1 node"},
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
				if got := lanesOf(run); got != c.lanes {
					t.Errorf("fencing %s: the lanes are %s, want %s", run.Fencing, got, c.lanes)
				}
				if got := describeSetup(run)[0]; got.About != "lock" || !strings.HasPrefix(string(got.Text), c.setting) {
					t.Errorf("the header describes the lock as %q, want %q", got.Text, c.setting)
				}
				for _, row := range setting.Describe(run, 1) {
					if strings.HasPrefix(string(row.About), "redis-") && !strings.Contains(c.lanes, string(row.About)) {
						t.Errorf("the setting names %s, which takes no part", row.About)
					}
				}
			}
		})
	}
}

// lanesOf returns the names of the lanes in the diagram of a run.
func lanesOf(run scenarios.RunResult) string {
	var names []string
	for _, lane := range diagram.Draw(diagramRuns([]scenarios.RunResult{run}), diagram.RoomFor(diagramRuns([]scenarios.RunResult{run})))[0].Lanes {
		names = append(names, lane.Name)
	}
	return strings.Join(names, " ")
}
