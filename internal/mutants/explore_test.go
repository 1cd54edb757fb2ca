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

// pairs is how many worlds with two faults the sound locks must pass.
var pairs = flag.Int("pairs", 300, "explore the sound locks in this many `worlds` with two faults")

// every has the locks of package locks explored too.
var every = flag.Bool("every", false, "explore the sound locks of package locks, too: it takes minutes")

// explored has the mutants that an exploration finds out by another rule than that by
// which the suite does: the suite's programs ask for what is claimed, while an
// exploration looks at what comes of it.
var explored = map[string]struct{ rule, because string }{
	"quorum/extend-without-elapsed-check": {"section-exclusion", "it works on after it was told that its lease is prolonged, which is over"},
	"quorum/release-where-granted":        {"key left behind", "the workloads leave three TTLs for progress, and a key is gone after one"},
	"single/extend-only-says":             {"lease-exclusion", "the key expires, while the lease goes on"},
	"single/no-script-is-yes":             {"lease-exclusion", "the key expires, while the lease goes on"},
	"single/asks-for-ever":                {"traffic after release", "its watch asks on for a key that is gone, though release has cancelled it; a trace does not say when a call's deadline has passed"},
	"single/watches-on":                   {"traffic after release", "no workload has the hundreds of sections after which the traffic has grown"},
}

// fewNodes has an exploration of a lock on a quorum take a third of its time. Three
// nodes have a minority and a majority, as five have.
func fewNodes(m mutants.Mutant) locktest.Config {
	config := claims(m)
	config.Nodes = min(config.Nodes, 3)
	return config
}

// TestExploreMutants: an exploration finds each mutant out, from nothing but its run
// without faults.
func TestExploreMutants(t *testing.T) {
	unhurried(t)
	var table strings.Builder
	row := func(mutant, rule, faults, worlds, what any) {
		fmt.Fprintf(&table, "%-36v  %-21v  %6v  %6v  %v\n", mutant, rule, faults, worlds, what)
	}
	row("mutant", "rule", "faults", "worlds", "the first that shows it")
	for _, m := range mutants.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			rule := cmp.Or(explored[m.Name].rule, m.Rule)
			var others []string
			for b := range locktest.BreaksIn(t, fewNodes(m), build(m), locktest.Exploration{MaxFaults: 1}) {
				if slices.Contains(b.Rules, rule) {
					b.Attr(t)
					row(m.Name, rule, len(b.Faults), b.Worlds, cmp.Or(strings.Join(b.Faults, "; "), "no fault at all"))
					return
				}
				others = append(others, fmt.Sprintf("%s in %s", strings.Join(b.Rules, ", "), b.Replay))
			}
			t.Errorf("%s: no fault shows %s; what they show is:\n%s", m.Wrong, rule, strings.Join(others[:min(len(others), 10)], "\n"))
		})
	}
	t.Log("\n" + table.String())
}

// TestExploreSound: no single fault, and no two, make a lock without a mistake do what
// is its own fault.
func TestExploreSound(t *testing.T) {
	unhurried(t)
	all := mutants.Sound()
	if *every {
		all = sound(t)
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			if m.Nodes > 1 && !*every {
				t.Skip("it takes minutes; give -every")
			}
			for b := range locktest.BreaksIn(t, fewNodes(m), build(m), locktest.Exploration{MaxFaults: 2, Worlds: *pairs}) {
				t.Errorf("%s in %s", strings.Join(b.Rules, ", "), b.Replay)
			}
		})
	}
}
