package explore

import (
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
