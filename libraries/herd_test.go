package libraries_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
)

// A document states what the releases of a holder cost while a hundred clients wait. The
// test checks the figures.
func TestReleasesWhileAHundredWait(t *testing.T) {
	s := openDocFile(t, "herd-of-101.yaml")
	for i, want := range []struct {
		all, afterOneRelease int64
	}{{100, 1}, {5050, 100}} {
		runs := runVariant(t, s.Variants[i], "")
		for _, run := range runs {
			if run.Verdict.Verdict != checks.Safe {
				t.Errorf("%s, fencing %s: the run is %s, want safe", s.Variants[i].Name, run.Fencing, run.Verdict.Verdict)
			}
			i := slices.IndexFunc(run.Measures, func(m checks.Measure) bool { return m.Name == "notifications" })
			if f := run.Measures[i].Figures; f[0].Value != want.all || f[1].Value != want.afterOneRelease {
				t.Errorf("fencing %s: the figures of the notifications are %v, want %d in all and at most %d after one release", run.Fencing, f, want.all, want.afterOneRelease)
			}
		}
	}
}
