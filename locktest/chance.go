package locktest

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/locksim/locksim/trace"
)

// Nothing in a world is left to chance but what the lock itself leaves to it. If two runs
// of one world differ, a replay may show something else than the report. The suite
// therefore runs some worlds twice.

// A chance is a difference between two runs of the same world.
type chance struct {
	Address address
	// Lines are the first event that differs, as it was in each of the two runs.
	Lines string
}

// chanceShare is the share of the test cases whose first world is run twice: one in so many.
const chanceShare = 12

// isRepeated reports whether to run a world a second time: the first world of a share of
// the test cases, and the first one that fails the lock.
func isRepeated(at address, isFirst bool, v verdict, o testResult) bool {
	if v.history == nil || v.unreliable || at.Seed != 1 {
		return false
	}
	if len(v.problems) > 0 {
		return o.Failed == 1 // the result of this world is in it
	}
	name := fnv.New32a()
	name.Write([]byte(at.Story))
	return isFirst && name.Sum32()%chanceShare == 0
}

// differsFrom returns how another run of the same world differs; nil if it does not.
func (v verdict) differsFrom(at address, again verdict) *chance {
	if v.history == nil || again.history == nil || v.history.Trace.Hash() == again.history.Trace.Hash() {
		return nil
	}
	d := trace.FirstDifference(v.history.Trace, again.history.Trace)
	line := func(w verdict) string {
		if d.Event == 0 || d.Event > w.history.EventCount() {
			return "the run has ended"
		}
		if text := strings.TrimSpace(excerpt(w.history, []int{d.Event})); text != "" {
			return strings.Join(strings.Fields(text), " ")
		}
		return w.history.Event(d.Event).Text
	}
	return &chance{at, fmt.Sprintf("first run:  %s\nsecond run: %s", line(v), line(again))}
}

// describe says what a difference between two runs means, and where to look for its source.
func (c *chance) describe() string {
	return fmt.Sprintf(`Two runs of the same world differ, so a replay may show something else than this report.
In %s the first difference is:
%s
The generators of math/rand are seeded in each world. Look for crypto/rand, math/rand/v2, the
order of a map, a select with several ready cases, or the machine's clock. Env.Rand and
Env.Clock are the same in each run.
`, c.Address, indent(c.Lines, "  "))
}

// requireRepeatable fails a replay whose second run differs from the first: then neither of
// them need be the run that failed.
func requireRepeatable(t *testing.T, first, second []verdict) {
	t.Helper()
	for i := range first {
		if c := first[i].differsFrom(address{Story: "this world", Seed: 1}, second[i]); c != nil {
			t.Error(c.describe())
			return
		}
	}
}
