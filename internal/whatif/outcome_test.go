package whatif

import (
	"testing"

	_ "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
)

// The outcome is the same if the run with fencing tokens is left out where it can only be the
// same as the run without them.
func TestOutcomeWith(t *testing.T) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, override := range []string{
		"faults[1].for=1s", "faults[1].for=20s", "faults[1].for=30.006s", "faults[1].for=60s", "faults[1]=null",
		"lock.ttl=60s", "storage.fencing=unfenceable", "storage.fencing=strict", "storage.fencing=lenient",
		"tokens={source: clock}", "tokens={source: random}", "lock.kind=single-token", "lock.ttl=nonsense",
	} {
		for _, more := range []string{"lock.nodes=1", "faults[1].for=10s"} {
			o := scenarios.RunOptions{Seed: 1}
			fast, err := outcomeWith(s, o, override, more)
			if err != nil {
				t.Fatal(err)
			}
			full, runs, _, err := runWith(s, o, override, more)
			if err != nil {
				t.Fatal(err)
			}
			if fast != full {
				t.Errorf("%s %s: the outcome is %+v, and with both runs %+v", override, more, fast, full)
			}
			if len(runs) == 2 && runs[0].Verdict.Verdict == runs[1].Verdict.Verdict {
				left++
			}
		}
	}
	if left == 0 {
		t.Error("in no case are the two runs the same")
	}
}
