package locktest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// In a world only the lock itself can act at random. If two runs of one world differ, a replay
// can show other events than the report. The suite therefore runs some worlds twice.

// A chance is a difference between two runs of the same world.
type chance struct {
	Address address
	// Lines are the first event that differs, as it was in each of the two runs.
	Lines string
	// Source is the most likely source of such a difference.
	Source string
}

// chanceShare says which share of the test cases run their first world twice: one in
// chanceShare.
const chanceShare = 12

// isRepeated reports whether to run a world a second time. It does so for the first world of one in
// chanceShare test cases, and for the first failing world of each test case.
func isRepeated(at address, isFirst bool, v verdict, o testResult) bool {
	if v.history == nil || v.unreliable || at.Seed != 1 {
		return false
	}
	if len(v.problems) > 0 {
		return o.Failed == 1 // o already includes the result of this world
	}
	name := fnv.New32a()
	name.Write([]byte(at.TestCase))
	return isFirst && name.Sum32()%chanceShare == 0
}

// differsFrom returns how another run of the same world differs; nil if it does not.
func (v verdict) differsFrom(at address, rerun verdict) *chance {
	if v.history == nil || rerun.history == nil || v.history.Trace.Hash() == rerun.history.Trace.Hash() {
		return nil
	}
	d := trace.FirstDifference(v.history.Trace, rerun.history.Trace)
	line := func(w verdict) string {
		if d.Event == 0 || d.Event > w.history.EventCount() {
			return "the run has ended"
		}
		return strings.Join(strings.Fields(excerpt(w.history, []int{d.Event})), " ")
	}
	first, second := line(v), line(rerun)
	if first == second || first == "" || second == "" { // the difference is in what the timeline leaves out
		first, second = d.First, d.Second
	}
	c := &chance{Address: at, Lines: fmt.Sprintf("first run:  %s\nsecond run: %s", first, second)}
	if last := min(v.history.EventCount(), rerun.history.EventCount()); 0 < d.Event && d.Event <= last {
		c.Source = sourceOf(v.history.Event(d.Event), rerun.history.Event(d.Event))
	}
	return c
}

// sourceOf returns the most likely source of the first difference between two runs; "" if the two
// events have nothing in common.
func sourceOf(first, second *trace.Event) string {
	alike := *first
	alike.At = second.At
	switch {
	case reflect.DeepEqual(&alike, second):
		return "The lock does the same at another time: it waits for a random time, probably of math/rand/v2, or reads the machine's clock."
	case first.Process != second.Process || first.Kind != second.Kind:
		return ""
	case first.Peer != second.Peer:
		return "The lock asks another node: the order probably comes from a map, from a select with several ready cases, or from math/rand/v2."
	case first.Text != second.Text:
		return "The lock sends something else: the value is probably random, of math/rand/v2, or read from the machine's clock."
	}
	return ""
}

// describe says what a difference between two runs means, and where to look for its source.
func (c *chance) describe() string {
	where := cmp.Or(c.Source, "Look for math/rand/v2, the order of a map, a select with several ready cases, or the machine's clock.")
	return fmt.Sprintf(`Two runs of the same world differ, so a replay may show something else than this report.
In %s the first difference is:
%s
%s
`, c.Address, indent(c.Lines, "  "), textwrap.Wrap(where+" Each world seeds math/rand and crypto/rand; Env.Rand and Env.Clock are the same in each run.", pageWidth, 0))
}

// requireRepeatable fails a replay whose second run differs from the first, because then it is
// possible that neither of them is the run that failed.
func requireRepeatable(t *testing.T, first, second []verdict) {
	t.Helper()
	for i := range first {
		if c := first[i].differsFrom(address{TestCase: "this world", Seed: 1}, second[i]); c != nil {
			t.Error(c.describe())
			return
		}
	}
}
