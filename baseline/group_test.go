package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// runs are those of a scenario on the seeds 2 to 4, with these verdicts and traces.
func runs(verdicts, traces string) []item {
	var all []item
	for n, trace := range strings.Fields(traces) {
		all = append(all, item{key: fmt.Sprintf("gc-pause --lock redlock --fencing off --seed %d", n+2), facts: []fact{
			{factVerdict, strings.Fields(verdicts)[n]}, {factViolated, "progress"}, {factTrace, trace},
		}})
	}
	return all
}

func TestGroup(t *testing.T) {
	g := group("scenarios/2-4", "2-4", runs("safe unsafe safe", "aa bb cc"))
	if want := "gc-pause --lock redlock --fencing off --seed 2-4"; g.key != want || g.part != "scenarios/2-4" {
		t.Errorf("its key is %q, want %q", g.key, want)
	}
	if got := g.fact(factVerdict); got != "safe:2,unsafe:1" {
		t.Errorf("its verdict is %q", got)
	}
	if got := group("", "2-4", runs("safe safe safe", "aa bb cc")).fact(factVerdict); got != "safe" {
		t.Errorf("of equal verdicts it has %q", got)
	}
}

// TestDiffering: a group tells on which seeds it differs from another, and that it
// differs even if only the order does.
func TestDiffering(t *testing.T) {
	was := group("p", "2-4", runs("safe safe safe", "aa bb cc"))
	for _, c := range []struct {
		traces string
		seeds  []string
	}{
		{"aa bb cc", nil},
		{"aa xx cc", []string{"3"}},
		{"aa cc bb", []string{"3", "4"}},
		{"x y z", []string{"2", "3", "4"}},
	} {
		is := group("p", "2-4", runs("safe safe safe", c.traces))
		var seeds []string
		for _, key := range differing(was, is) {
			_, seed, _ := strings.Cut(key, seedFlag)
			seeds = append(seeds, seed)
		}
		if !slices.Equal(seeds, c.seeds) {
			t.Errorf("%s differ on %q, want %q", c.traces, seeds, c.seeds)
		}
		if same := was.fact(factTrace) == is.fact(factTrace); same != (c.seeds == nil) {
			t.Errorf("%s: the digest of all is the same: %v", c.traces, same)
		}
	}
	one := item{key: "gc-pause --seed 1", facts: []fact{{factTrace, "aa"}}}
	if keys := differing(one, one); keys != nil {
		t.Errorf("a run by itself has the seeds %q", keys)
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
