package scenarios

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// A scenario that is written for Redis nodes can be run with a lock on other servers. Its
// nodes get other names wherever they are mentioned, and the result is the same.
func TestScenariosOnOtherServers(t *testing.T) {
	for _, test := range []struct {
		scenario string
		off, on  string            // the verdicts without and with fencing
		violated []checks.Property // in the run without fencing
	}{
		{"gc-pause", checks.Unsafe, checks.Safe, []checks.Property{checks.SectionExclusion}},
		{"no-faults", checks.Safe, checks.Safe, nil},
		{"single-crash", checks.Unsafe, checks.Safe, []checks.Property{checks.LeaseExclusion, checks.SectionExclusion}},
		{"one-node-jump", checks.Safe, checks.Safe, nil},
		{"fencing-counter-lost", checks.Unsafe, checks.Unsafe, nil},
	} {
		t.Run(test.scenario, func(t *testing.T) {
			s, err := Open(test.scenario)
			if err != nil {
				t.Fatal(err)
			}
			v := s.Variants[0]
			for fencing, want := range map[string]string{Off: test.off, On: test.on} {
				config, err := v.Config(Options{Seed: 1, Kind: simtest.ToyLock, Fencing: fencing})
				if err != nil {
					t.Fatal(err)
				}
				tr, err := sim.Run(config)
				if err != nil {
					t.Fatal(err)
				}
				judged := v.Judge(tr, simtest.ToyLock.Name, fencing).Verdict
				if judged.Verdict != want {
					t.Errorf("fencing %s: the verdict is %s, want %s: %v", fencing, judged.Verdict, want, judged.Reasons)
				}
				for _, w := range judged.Witnesses {
					if !w.Seen {
						t.Errorf("fencing %s: this witness was not seen: %s", fencing, w.Text)
					}
				}
				for _, p := range test.violated {
					if judged.Finding(p).Outcome != checks.Violated && fencing == Off {
						t.Errorf("%s is %s, want it violated", p, judged.Finding(p).Outcome)
					}
				}
				for _, p := range tr.Processes {
					if strings.HasPrefix(p.Name, "redis") {
						t.Errorf("there is a process %s, want none with the name of a Redis node", p.Name)
					}
				}
				for _, f := range tr.Faults {
					if strings.Contains(f.Text, "redis") || f.IdleReason != "" {
						t.Errorf("the fault %q names a Redis node, or does not act: %s", f.Text, f.IdleReason)
					}
				}
			}
		})
	}
}

// If a scenario needs something that a kind of server cannot do, it is refused, and the
// error says why.
func TestScenariosThatDoNotApplyToOtherServers(t *testing.T) {
	for scenario, want := range map[string]string{
		"failover":          "replica is a replica of toy-1, but a toy cannot be a replica",
		"fencing-late-mint": "tokens: incr counts on nodes of the kind redis, but toy-1 is a toy",
	} {
		s, err := Open(scenario)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Variants[0].Config(Options{Seed: 1, Kind: simtest.ToyLock, Fencing: On})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", scenario, err, want)
		}
	}
}
