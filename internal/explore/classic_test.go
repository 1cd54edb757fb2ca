package explore

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/runs"
)

// debatedWays has the beginnings of the IDs of the ways to break Redlock that are debated
// most.
var debatedWays = []string{
	"late-client/inherent-needs-fencing", // a paused client
	"late-client",                        // a late write
	"node-clock-forward+unreachable-node/assumption-clock",
	"forgetful-node+unreachable-node/assumption-lock-memory",
}

// A quick search finds the best known causes in a few hundred worlds, with any number of
// nodes.
func TestQuickSearchFindsDebatedWays(t *testing.T) {
	for _, nodes := range []int{3, 5} {
		if testing.Short() && nodes > 3 {
			continue
		}
		l, bases := newRunner("redlock", nodes)
		first := 0
		s := &Search{
			Bases: bases, MaxFaults: 2, Worlds: 300, Quick: true, Runner: l, Records: Records{bases, l},
			OnFirst: func(_ runs.WorldSpec, tried int) { first = tried },
		}
		f := find(t, s)
		checkDebatedWays(t, f)
		if f.result.Worlds > 600 || first < 1 || first > 10 || first != f.result.First {
			t.Errorf("%d nodes: the search took %d worlds, want at most 600; it reported world %d as the first that breaks the lock, want at most 10, and its result says %d", nodes, f.result.Worlds, first, f.result.First)
		}
		if level := f.result.Levels[0]; level.Tried*10 > level.Space {
			t.Errorf("%d nodes: %d of %d single faults were tried, want at most a tenth", nodes, level.Tried, level.Space)
		}
	}
}

// The best known pairs of faults are tried first. So a search finds the debated ways in a
// few hundred worlds with two faults.
func TestClassicPairsComeFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs all single faults")
	}
	l, bases := newRunner("redlock", 3)
	f := find(t, &Search{Bases: bases[:1], MaxFaults: 2, Worlds: 300, Runner: l, Records: Records{bases, l}})
	checkDebatedWays(t, f)
}

// checkDebatedWays checks that a search has found all debated ways.
func checkDebatedWays(t *testing.T, f *Found) {
	t.Helper()
	found := slices.Sorted(maps.Keys(f.groups))
	for _, id := range debatedWays {
		if !slices.ContainsFunc(found, func(way string) bool { return strings.HasPrefix(way, id) }) {
			t.Errorf("%d nodes: the debated way %s is not among the ways that were found: %v", len(f.records[0].Nodes), id, found)
		}
	}
}
