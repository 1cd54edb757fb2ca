package mutants_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locktest"
)

// pairs is how many worlds with two faults the locks without a mistake must pass.
var pairs = flag.Int("pairs", 300, "explore the sound locks in this many `worlds` with two faults")

// exploreAll means that the locks of package locks are explored, too.
var exploreAll = flag.Bool("every", false, "explore the sound locks of package locks, too: it takes minutes")

// exploredRules has the mutants that an exploration detects by another rule than the suite.
// The suite runs programs that check each claim, while an exploration sees only the
// consequences.
var exploredRules = map[string]struct{ rule, because string }{
	"quorum/extend-without-elapsed-check": {"section-exclusion", "the client continues its work because extend succeeded, although the lease has ended"},
	"quorum/release-where-granted":        {"key left behind", "the workloads leave three TTLs for progress, and a key is gone after one"},
	"single/extend-only-says":             {"lease-exclusion", "the key expires, while the lease continues"},
	"single/no-script-is-yes":             {"lease-exclusion", "the key expires, while the lease continues"},
	"single/asks-for-ever":                {"traffic after release", "the lock's watch keeps asking for a key that is gone, although release has cancelled it; a trace does not show when a call's deadline has passed"},
	"single/watches-on":                   {"traffic after release", "no workload has the hundreds of sections after which the traffic has grown"},
}

// fewNodes returns the Config of a mutant with at most three nodes. Three nodes have a
// minority and a majority, as five have, and an exploration takes a third of the time.
func fewNodes(m mutants.Mutant) locktest.Config {
	config := configOf(m)
	config.Nodes = min(config.Nodes, 3)
	return config
}

// TestExploreMutants: an exploration detects each mutant. All that it knows of the lock is
// what a run without faults shows.
func TestExploreMutants(t *testing.T) {
	skipIfSlow(t)
	var table strings.Builder
	addRow := func(mutant, rule, faults, worlds, what any) {
		fmt.Fprintf(&table, "%-36v  %-21v  %6v  %6v  %v\n", mutant, rule, faults, worlds, what)
	}
	addRow("mutant", "rule", "faults", "worlds", "the first faults that show it")
	for _, m := range mutants.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			rule := cmp.Or(exploredRules[m.Name].rule, m.Rule)
			var others []string // the rules that other faults violate
			for b := range locktest.BreaksIn(t, fewNodes(m), build(m), locktest.Exploration{MaxFaults: 1}) {
				if slices.Contains(b.Rules, rule) {
					b.Attr(t)
					addRow(m.Name, rule, len(b.Faults), b.Worlds, cmp.Or(strings.Join(b.Faults, "; "), "no fault at all"))
					return
				}
				others = append(others, fmt.Sprintf("%s in %s", strings.Join(b.Rules, ", "), b.Replay))
			}
			t.Errorf("%s: no fault shows %s; the faults show:\n%s", m.Description, rule, strings.Join(others[:min(len(others), 10)], "\n"))
		})
	}
	t.Log("\n" + table.String())
}

// TestExploreSound: no single fault, and no pair of faults, makes a lock without a mistake
// do something for which the lock is to blame.
func TestExploreSound(t *testing.T) {
	skipIfSlow(t)
	all := mutants.Sound()
	if *exploreAll {
		all = soundLocks(t)
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			if m.Nodes > 1 && !*exploreAll {
				t.Skip("this test takes minutes; set -every")
			}
			for b := range locktest.BreaksIn(t, fewNodes(m), build(m), locktest.Exploration{MaxFaults: 2, Worlds: *pairs}) {
				t.Errorf("%s in %s", strings.Join(b.Rules, ", "), b.Replay)
			}
		})
	}
}
