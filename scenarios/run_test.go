package scenarios

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/sim"
)

var seeds = flag.Uint64("seeds", 10, "on how many seeds each scenario is run")

// Every scenario comes to what it says, with each lock of which it says
// anything, whatever the latencies are.
func TestScenariosComeToWhatTheyExpect(t *testing.T) {
	for _, s := range Embedded() {
		for _, lock := range expectedWith(s) {
			for seed := range *seeds {
				r, err := Run(s, RunOptions{Seed: seed, Lock: lock})
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
					continue
				}
				if len(r.Runs) != 2*len(s.Variants) || lock == "" && r.AsExpected == nil {
					t.Errorf("%s, seed %d: %d runs, as expected: %v", s.Name, seed, len(r.Runs), r.AsExpected)
				}
				for _, run := range r.Runs {
					if len(run.Differences) > 0 {
						t.Errorf("%s, lock %s, seed %d:\n%s", run.Variant.describe(run.Fencing), run.Lock, seed, strings.Join(append(run.Differences, run.Verdict.Reasons...), "\n"))
					}
				}
			}
		}
	}
}

// expectedWith lists the locks of which a scenario expects something; its own is
// empty.
func expectedWith(s *Scenario) []string {
	found := []string{""}
	for _, v := range s.Variants {
		for _, name := range v.spec.ExpectWith.names() {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// Each fault is needed: without it, a witness of the story is missing.
func TestEveryFaultHasItsWitness(t *testing.T) {
	for _, s := range Embedded() {
		for _, v := range s.Variants {
			for i := range v.spec.Faults {
				t.Run(fmt.Sprintf("%s %s without fault %d", s.Name, v.Name, i+1), func(t *testing.T) {
					less := *v
					less.spec.Faults = slices.Delete(slices.Clone(v.spec.Faults), i, i+1)
					trace, err := sim.Run(mustConfig(t, &less, Options{Seed: 1, Fencing: Off}))
					if err != nil {
						t.Fatal(err)
					}
					if !slices.ContainsFunc(v.Witnesses, func(w sim.Witness) bool { return !w.Seen(trace) }) {
						t.Error("every witness is still seen")
					}
					if v := checks.Check(trace, less.Witnesses); v.Verdict != checks.Undecided {
						t.Errorf("the verdict is %s", v.Verdict)
					}
				})
			}
		}
	}
}

// A result says whether a scenario came to what it expects, as far as it
// expects anything.
func TestAsExpected(t *testing.T) {
	const story = "title: t\nlock: {kind: redlock, ttl: 30s}\nclients: {client-1: {}}\nexpect:\n"
	yes, no := true, false
	for _, c := range []struct {
		name, expect string
		want         *bool
	}{
		{"both runs", "  off: {verdict: safe}\n  on: {verdict: safe}\n", &yes},
		{"one run differs", "  off: {verdict: safe, violated: [progress]}\n  on: {verdict: safe}\n", &no},
		{"one run is open", "  off: {verdict: safe}\n", nil},
		{"one run differs, the other is open", "  off: {verdict: unsafe, violated: [write-order]}\n", &no},
	} {
		r, err := Run(mustParse(t, story+c.expect), RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.AsExpected; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: as expected is %s, want %s", c.name, told(got), told(c.want))
		}
	}
}

func told(b *bool) string {
	if b == nil {
		return "open"
	}
	return fmt.Sprint(*b)
}
