package libraries_test

import (
	"os"
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A holder and a hundred who poll its row, or wait for it: what that costs is what the document
// says.
func TestAHundredPoll(t *testing.T) {
	const file = "../docs/pollers-of-101.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{11_905, 505} {
		runs, untold, err := s.Variants[i].Tell(scenarios.RunOptions{Seed: 1})
		if err != nil || untold != "" {
			t.Fatal(err, untold)
		}
		for _, run := range runs {
			if run.Verdict.Verdict != checks.Safe {
				t.Errorf("%s: it is %s", s.Variants[i].Name, run.Verdict.Verdict)
			}
			i := slices.IndexFunc(run.Measures, func(m checks.Measure) bool { return m.Name == "lock-commands" })
			if f := run.Measures[i].Figures; f[0].Value != want {
				t.Errorf("the statements are %v, and not %d", f, want)
			}
		}
	}
}
