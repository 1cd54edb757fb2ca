package libraries_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
)

// A document states what the releases of a holder cost while a hundred clients wait. The
// test checks the figures.
func TestAHundredWait(t *testing.T) {
	s := openDocFile(t, "herd-of-101.yaml")
	for i, want := range []struct{ all, most int64 }{{100, 1}, {5050, 100}} {
		runs := runVariant(t, s.Variants[i], "")
		for _, run := range runs {
			if run.Verdict.Verdict != checks.Safe {
				t.Errorf("%s, fencing %s: it is %s", s.Variants[i].Name, run.Fencing, run.Verdict.Verdict)
			}
			i := slices.IndexFunc(run.Measures, func(m checks.Measure) bool { return m.Name == "notifications" })
			if f := run.Measures[i].Figures; f[0].Value != want.all || f[1].Value != want.most {
				t.Errorf("fencing %s: the notifications are %v, and not %d, at most %d after one release", run.Fencing, f, want.all, want.most)
			}
		}
	}
}
