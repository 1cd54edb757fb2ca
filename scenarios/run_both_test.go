package scenarios

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// RunBoth runs a scenario with every lock to which it applies. For any other lock it gives
// the reason, and runs nothing.
func TestRunBoth(t *testing.T) {
	for _, c := range []struct {
		name, lock    string // name is SCENARIO or SCENARIO/VARIANT
		notApplicable string // a part of the reason why the scenario does not apply
		verdict       string // of the run without fencing
	}{
		{"gc-pause", "", "", checks.Unsafe},
		{"gc-pause", "single", "", checks.Unsafe},
		{"clock-jump", "single", "", checks.Unsafe},
		{"minority-down", "single", "the faults strike 2 of 5 servers, which is no majority", ""},
		{"pause-in-flight/no-elapsed-check", "redsync", "about a lock without elapsed-check", ""},
		{"pause-in-flight/elapsed-check", "single", "", checks.Safe},
		{"gc-pause", "redlokc", `no lock is called "redlokc"`, ""},
		{"optimistic/lock", "single-wait", "the scenario has no replica", ""},
		{"same-failover", "single-wait", "replica receives each change only 5s later", ""},
	} {
		name, variant, _ := strings.Cut(c.name, "/")
		s, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.SelectVariant(variant); err != nil {
			t.Fatal(err)
		}
		runs, notApplicable, err := s.Variants[0].RunBoth(RunOptions{Seed: 1, Lock: c.lock})
		if err != nil {
			t.Errorf("%s with the lock %q: %v", c.name, c.lock, err)
			continue
		}
		if !strings.Contains(notApplicable, c.notApplicable) || (notApplicable == "") != (c.notApplicable == "") {
			t.Errorf("%s with the lock %q does not apply because %q, want %q", c.name, c.lock, notApplicable, c.notApplicable)
		}
		if c.notApplicable != "" {
			if runs != nil {
				t.Errorf("%s does not apply to the lock %q, but has %d runs", c.name, c.lock, len(runs))
			}
			continue
		}
		if len(runs) != 2 || runs[0].Fencing != Off || runs[1].Fencing != On || runs[0].Verdict.Verdict != c.verdict {
			t.Errorf("%s with the lock %q has %d runs, of which the first is %s", c.name, c.lock, len(runs), runs[0].Verdict.Verdict)
		}
	}
}

// The reason why a scenario does not apply does not name the lock, so a list of several
// locks can give the reason once.
func TestReasonWhyNotApplicableNamesNoLock(t *testing.T) {
	doubts := 0
	for _, s := range Embedded() {
		for _, v := range s.Variants {
			for _, lock := range locks.Names() {
				kind, _ := locks.Lookup(lock)
				if _, has := sim.LookupSystem(kind.System); !has && kind.System != "" {
					continue // that servers are missing in this program says nothing about the lock
				}
				var reasons []string
				for _, fencing := range []string{Off, On} {
					if why := v.whyNotApplicable(Options{Seed: 1, Lock: lock, Fencing: fencing}); why != "" {
						reasons = append(reasons, why)
					}
				}
				for _, doubt := range reasons {
					// The name of a server contains its system, and so do the names of some
					// locks, so server names are removed first.
					if doubts++; strings.Contains(strings.ReplaceAll(doubt, kind.System+"-", ""), lock) {
						t.Errorf("%s does not apply to the lock %s for a reason that names the lock: %s", s.Name, lock, doubt)
					}
				}
			}
		}
	}
	if doubts == 0 {
		t.Error("every scenario applies to every lock, so nothing was tested")
	}
}
