package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// The search has a policy for every effect of a fault. If a policy does nothing in some
// respect, it says why.
func TestSearchKnowsEveryEffect(t *testing.T) {
	describeGap := func(policy bool, reason string) string {
		switch {
		case policy && reason != "":
			return "a policy and also a reason to have none"
		case !policy && reason == "":
			return "neither a policy nor a reason to have none"
		}
		return ""
	}
	for _, e := range trace.Effects() {
		policy := effectPolicies[e]
		for part, lacks := range map[string]string{
			"harm":      describeGap(policy.harmRank > 0, ""),
			"family":    describeGap(policy.familyOf != nil, ""),
			"aftermath": describeGap(policy.aftermath.event != nil, policy.aftermath.whyNone),
			"evidence":  describeGap(policy.evidence.witnesses != nil, policy.evidence.whyNone),
		} {
			if lacks != "" {
				t.Errorf("for faults that %s, %s has %s", e, part, lacks)
			}
		}
	}
}

// Kinds select kinds of faults and their manners. A name that is not one of a kind is
// refused.
func TestKindsSelectFaults(t *testing.T) {
	for _, tt := range []struct {
		kinds                     Kinds
		crashes, failover, drifts bool // which faults are tried
	}{
		{Kinds{}, true, true, true},
		{Kinds{Only: []string{"crash"}}, true, true, false},
		{Kinds{Only: []string{"crash/failover"}}, true, true, false},
		{Kinds{Except: []string{"crash/failover", "drift"}}, true, false, false},
		{Kinds{Only: []string{"crash", "drift"}, Except: []string{"crash"}}, false, false, true},
	} {
		if got := tt.kinds.Tries("crash"); got != tt.crashes {
			t.Errorf("%s: crashes are tried: %v, want %v", tt.kinds, got, tt.crashes)
		}
		if got := tt.kinds.Tries("drift"); got != tt.drifts {
			t.Errorf("%s: drifts are tried: %v, want %v", tt.kinds, got, tt.drifts)
		}
		failsOver := func(w runs.WorldSpec) bool { return w.Faults[0].Slug() == "failover" }
		l, bases := newRunner("single", 0)
		if got := slices.ContainsFunc(makeRecord(t, l, bases, 0).Singles(tt.kinds), failsOver); got != tt.failover {
			t.Errorf("%s: failovers are tried: %v, want %v", tt.kinds, got, tt.failover)
		}
	}
	for _, name := range KindNames() {
		if err := (Kinds{Only: []string{name}}).Check(); err != nil {
			t.Error(err)
		}
	}
	if err := (Kinds{Except: []string{"crash/shrug"}}).Check(); err == nil || !strings.Contains(err.Error(), "crash/power-loss") {
		t.Errorf("the error about the manner crash/shrug, which does not exist, is %v; want the list of manners", err)
	}
}
