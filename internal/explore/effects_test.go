package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/trace"
)

// Each table by effect knows every effect, and of one about which it does nothing it says
// why.
func TestTablesKnowEveryEffect(t *testing.T) {
	has := func(is bool, reason string) string {
		switch {
		case is && reason != "":
			return "what to do, and why nothing is to be done"
		case !is && reason == "":
			return "nothing, and does not say why"
		}
		return ""
	}
	for table, lacks := range map[string]func(trace.Effect) string{
		"harm":     func(e trace.Effect) string { return has(harm[e] > 0, "") },
		"causes":   func(e trace.Effect) string { return has(causes[e] != nil, "") },
		"comesTo":  func(e trace.Effect) string { return has(comesTo[e] != nil, "") },
		"leaves":   func(e trace.Effect) string { return has(leaves[e].happens != nil, leaves[e].none) },
		"evidence": func(e trace.Effect) string { return has(evidence[e].shows != nil, evidence[e].none) },
	} {
		for _, effect := range trace.Effects() {
			if what := lacks(effect); what != "" {
				t.Errorf("of a fault that %s, the table %s has %s", effect, table, what)
			}
		}
	}
}

// Kinds choose among kinds of faults and their manners; what nobody knows is refused.
func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		kinds             Kinds
		crashes, failover bool
		drifts            bool
	}{
		{Kinds{}, true, true, true},
		{Kinds{Only: []string{"crash"}}, true, true, false},
		{Kinds{Only: []string{"crash/failover"}}, true, true, false},
		{Kinds{Except: []string{"crash/failover", "drift"}}, true, false, false},
		{Kinds{Only: []string{"crash", "drift"}, Except: []string{"crash"}}, false, false, true},
	} {
		if got := tt.kinds.Tries("crash"); got != tt.crashes {
			t.Errorf("%s: crashes are tried: %v", tt.kinds, got)
		}
		if got := tt.kinds.Tries("drift"); got != tt.drifts {
			t.Errorf("%s: drifts are tried: %v", tt.kinds, got)
		}
		failsOver := func(w World) bool { return w.Faults[0].Is() == "failover" }
		l, _ := of("single", 0)
		if got := slices.ContainsFunc(recorded(t, l, 0).Singles(tt.kinds), failsOver); got != tt.failover {
			t.Errorf("%s: failovers are tried: %v", tt.kinds, got)
		}
	}
	for _, name := range KindNames() {
		if err := (Kinds{Only: []string{name}}).Check(); err != nil {
			t.Error(err)
		}
	}
	if err := (Kinds{Except: []string{"crash/shrug"}}).Check(); err == nil || !strings.Contains(err.Error(), "crash/power-loss") {
		t.Errorf("a manner that there is not: %v", err)
	}
}
