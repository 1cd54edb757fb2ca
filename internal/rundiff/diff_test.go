package rundiff_test

import (
	"testing"

	_ "github.com/locksim/locksim/internal/testkit/simtest"

	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/scenarios"
)

// sideOf runs gc-pause without fencing tokens, with overrides.
func sideOf(t *testing.T, overrides ...string) rundiff.Side {
	t.Helper()
	s, err := scenarios.Open("gc-pause")
	if err == nil {
		s, err = s.With(overrides...)
	}
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Variants[0].Run(scenarios.RunOptions{Seed: 1}, scenarios.Off)
	if err != nil {
		t.Fatal(err)
	}
	return rundiff.Side{Result: scenarios.NewResult(s, run.Lock, 1, []scenarios.RunResult{run})}
}

// A run has all its events in common with itself. With another pause it has those before the
// pause in common, and the next event differs.
func TestCommonEvents(t *testing.T) {
	whole, shorter := sideOf(t), sideOf(t, "faults[1].for=20s")
	all := whole.Run().History.EventCount()
	if got := (&rundiff.Diff{Left: whole, Right: sideOf(t)}).CommonEvents(); got != all {
		t.Errorf("%d events are common with the same run, want all %d", got, all)
	}
	d := &rundiff.Diff{Left: whole, Right: shorter}
	common := d.CommonEvents()
	if common == 0 || common == all {
		t.Fatalf("%d of %d events are common with the run with a shorter pause", common, all)
	}
	left, right := whole.Run().History.Trace.Events, shorter.Run().History.Trace.Events
	if left[common-1].At != right[common-1].At || left[common].At == right[common].At {
		t.Errorf("the last common events are at %v and %v, and the next at %v and %v", left[common-1].At, right[common-1].At, left[common].At, right[common].At)
	}
	struck := whole.Run().History.Act(1).Struck.At
	if at := left[common-1].At; at < struck {
		t.Errorf("the runs part at %v, before the pause begins at %v", at, struck)
	}
}
