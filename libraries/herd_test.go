package libraries_test

import (
	"os"
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A holder and a hundred who wait: what their releases cost is what the document says.
func TestAHundredWait(t *testing.T) {
	const file = "../docs/herd-of-101.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ all, most int64 }{{100, 1}, {5050, 100}} {
		runs, untold, err := s.Variants[i].Tell(scenarios.RunOptions{Seed: 1})
		if err != nil || untold != "" {
			t.Fatal(err, untold)
		}
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
