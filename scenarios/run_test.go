package scenarios

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

var seeds = flag.Uint64("seeds", 10, "on how many seeds each scenario is run; with other locks than its own on a tenth, but at least on 10")

// Every scenario comes to what it says, with each lock of which it says
// anything, whatever the latencies are, and not because all latencies give one
// run: at least every second seed gives a run of its own.
func TestScenariosComeToWhatTheyExpect(t *testing.T) {
	for _, s := range Embedded() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, lock := range expectedWith(s) {
				different := map[string]map[string]bool{}
				seeds := *seeds
				if lock != "" {
					seeds = max(seeds/10, min(seeds, 10))
				}
				for seed := range seeds {
					comesToWhatItExpects(t, s, lock, seed, different)
				}
				for run, hashes := range different {
					if uint64(len(hashes)) < seeds/2 {
						t.Errorf("%s: %d seeds gave only %d different traces", run, seeds, len(hashes))
					}
				}
			}
		})
	}
}

// comesToWhatItExpects runs a scenario once, and notes the hashes of its traces
// by run.
func comesToWhatItExpects(t *testing.T, s *Scenario, lock string, seed uint64, hashes map[string]map[string]bool) {
	r, err := Run(s, RunOptions{Seed: seed, Lock: lock})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	if len(r.Runs) != 2*len(s.Variants) || lock == "" && r.AsExpected == nil {
		t.Errorf("%s, seed %d: %d runs, as expected: %v", s.Name, seed, len(r.Runs), r.AsExpected)
	}
	for _, run := range r.Runs {
		name := fmt.Sprintf("%s, lock %s", run.Variant.describe(run.Fencing), run.Lock)
		if len(run.Differences) > 0 {
			t.Errorf("%s, seed %d:\n%s", name, seed, fmt.Sprint(append(run.Differences, run.Verdict.Reasons...)))
		}
		if hashes[name] == nil {
			hashes[name] = map[string]bool{}
		}
		hashes[name][run.History.Trace.Hash()] = true
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

// Each fault is needed. Without it a witness of the story is missing, so that
// nobody can take the run for the story; and, unless the story shows something
// holding, what is violated is not the same, so that it is this fault that the
// story is about.
func TestEveryFaultMatters(t *testing.T) {
	for _, s := range Embedded() {
		for _, v := range s.Variants {
			for i := range v.spec.Faults {
				t.Run(fmt.Sprintf("%s %s without fault %d", s.Name, v.Name, i+1), func(t *testing.T) {
					t.Parallel()
					less := *v
					less.spec.Faults = slices.Delete(slices.Clone(v.spec.Faults), i, i+1)
					matters := false
					for _, fencing := range []string{Off, On} {
						tr := run(t, mustConfig(t, &less, Options{Seed: 1, Fencing: fencing}))
						if !slices.ContainsFunc(v.Witnesses, func(w trace.Witness) bool { return !history.Seen(w, tr) }) {
							t.Errorf("fencing %s: every witness is still seen", fencing)
						}
						expected, ok := v.Expectation("", fencing)
						matters = matters || !ok || !slices.Equal(violated(checks.Check(history.Of(tr), nil)), sorted(expected.Violated))
					}
					if !matters && !v.control() {
						t.Error("the same properties are violated")
					}
				})
			}
		}
	}
}

// violated lists what a run violates.
func violated(v *checks.Verdict) []checks.Property {
	var broken []checks.Property
	for _, f := range v.Findings {
		if f.Outcome == checks.Violated {
			broken = append(broken, f.Property)
		}
	}
	return sorted(broken)
}

func sorted(properties []checks.Property) []checks.Property {
	properties = slices.Clone(properties)
	slices.Sort(properties)
	return properties
}

// control reports that a variant shows something holding: no assumption breaks, or
// nothing is violated, with or without fencing.
func (v *Variant) control() bool {
	off, _ := v.Expectation("", Off)
	on, _ := v.Expectation("", On)
	return v.Assumption == "none" || len(off.Violated)+len(on.Violated) == 0
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
