package libraries_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
)

// A document states what it costs if a hundred clients poll the row of a holder, or wait
// for it. The test checks the figures.
func TestRequestsWhileAHundredPoll(t *testing.T) {
	s := openDocFile(t, "pollers-of-101.yaml")
	for i, want := range []int64{11_905, 505} {
		runs := runVariant(t, s.Variants[i], "")
		for _, run := range runs {
			if run.Verdict.Verdict != checks.Safe {
				t.Errorf("%s: the run is %s, want safe", s.Variants[i].Name, run.Verdict.Verdict)
			}
			i := slices.IndexFunc(run.Measures, func(m checks.Measure) bool { return m.Name == "lock-commands" })
			if f := run.Measures[i].Figures; f[0].Value != want {
				t.Errorf("%s: the figures of the statements are %v, want %d in all", run.Variant.Name, f, want)
			}
		}
	}
}
