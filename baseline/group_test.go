package main

import (
	"slices"
	"strings"
	"testing"
)

var gcPauseOnRedlock = setup{"gc-pause", "", "redlock"}

// runs are those of a scenario on the seeds 2 to 4, with these verdicts and traces. The
// traces with fencing tokens begin with "on-".
func runs(verdicts, traces string) (both [2][]item) {
	for i, fencing := range fencings {
		for n, tr := range strings.Fields(traces) {
			if fencing == "on" {
				tr = "on-" + tr
			}
			both[i] = append(both[i], item{part: "scenarios/2-4", key: gcPauseOnRedlock.key(fencing, uint64(n+2)), facts: []fact{
				{factVerdict, strings.Fields(verdicts)[n]}, {factViolated, "progress"}, {factTrace, tr},
			}})
		}
	}
	return both
}

func grouped(verdicts, traces string) item {
	return group("scenarios/2-4", gcPauseOnRedlock, span{2, 4}, runs(verdicts, traces))
}

func TestGroup(t *testing.T) {
	g := grouped("safe unsafe safe", "aa bb cc")
	if want := "gc-pause --lock redlock --seed 2-4"; g.key != want || g.part != "scenarios/2-4" {
		t.Errorf("its key is %q, want %q", g.key, want)
	}
	if got := g.fact(factVerdict); got != "safe:2,unsafe:1/safe:2,unsafe:1" {
		t.Errorf("its verdict is %q", got)
	}
	if got := grouped("safe safe safe", "aa bb cc").fact(factVerdict); got != "safe/safe" {
		t.Errorf("of equal verdicts it has %q", got)
	}
}

// TestDiffering: a group tells on which seeds it differs from another, and that it
// differs even if only the order does.
func TestDiffering(t *testing.T) {
	was := grouped("safe safe safe", "aa bb cc")
	for _, c := range []struct {
		traces string
		seeds  []uint64
	}{
		{"aa bb cc", nil},
		{"aa xx cc", []uint64{3}},
		{"aa cc bb", []uint64{3, 4}},
		{"x y z", []uint64{2, 3, 4}},
	} {
		is := grouped("safe safe safe", c.traces)
		if seeds := differing(was, is); !slices.Equal(seeds, c.seeds) {
			t.Errorf("%s differ on %v, want %v", c.traces, seeds, c.seeds)
		}
		if same := was.fact(factTrace) == is.fact(factTrace); same != (c.seeds == nil) {
			t.Errorf("%s: the digest of all is the same: %v", c.traces, same)
		}
	}
	one := item{key: "gc-pause --seed 1", facts: []fact{{factTrace, "aa"}}}
	if seeds := differing(one, one); seeds != nil {
		t.Errorf("a run by itself has the seeds %v", seeds)
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]span{"1": {1, 1}, "1-20": {1, 20}, "7-7": {7, 7}} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "3-1", "1-", "-1", "1-2-3", "1-100000", "0-18446744073709551615"} {
		if got, err := parseSpan(text); err == nil || !strings.Contains(err.Error(), "as in 1-20") {
			t.Errorf("%q is %v, %v, want an error that says what to write", text, got, err)
		}
	}
	if got := (span{18446744073709551614, 18446744073709551615}).seeds(); len(got) != 2 {
		t.Errorf("the last seeds are %v", got)
	}
}
