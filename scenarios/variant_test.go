package scenarios

import (
	"fmt"
	"testing"
)

const factsFile = `
title: A story of two variants
lock: {kind: redlock, ttl: 10s}
clients:
  client-1: {}
  client-2: {starts: client-1's keys expired}
faults:
  - {before: client-1 write, pause: client-1, until: client-2 acquired}
  - {jump: redis-1, by: 1s}
  - {before: client-2 write, pause: client-2, for: 1s}
expect:
  off: {verdict: unsafe, violated: [write-order, section-exclusion]}
  on: {verdict: safe, violated: [progress]}
expect-with:
  single: {off: {verdict: safe, violated: [release-ownership]}}
variants:
  first: {}
  second: {faults: []}
`

func TestFactsOfAVariant(t *testing.T) {
	s := mustParse(t, factsFile)
	v := s.Variants[0]
	for _, c := range []struct {
		what string
		got  any
		want string
	}{
		{"the kinds of faults", v.FaultKinds(), "[pause jump]"},
		{"the kinds of faults of a variant without faults", s.Variants[1].FaultKinds(), "[]"},
		{"the locks", v.Locks(), "[redlock single]"},
		{"the properties that it violates", v.Violates(), "[section-exclusion write-order progress]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s are %s, want %s", c.what, got, c.want)
		}
	}
}

func TestSelectVariant(t *testing.T) {
	s := mustParse(t, factsFile)
	only, err := s.SelectVariant("second")
	if err != nil {
		t.Fatal(err)
	}
	if only.Title != s.Title || len(only.Variants) != 1 || only.Variants[0] != s.Variants[1] || len(s.Variants) != 2 {
		t.Errorf("the selected scenario is %+v, from %+v", only, s)
	}
	single := &Scenario{Name: "plain", Variants: []*Variant{{}}}
	if only, err := single.SelectVariant(""); err != nil || len(only.Variants) != 1 {
		t.Errorf("the only variant of a scenario is selected as %v, with the error %v", only, err)
	}
	for name, want := range map[string]string{
		"secnod": s.Name + ` has no variant "secnod"; did you mean "second"?`,
		"other":  s.Name + ` has no variant "other"; known here: first, second`,
	} {
		if _, err := s.SelectVariant(name); err == nil || err.Error() != want {
			t.Errorf("the error for the variant %q is %v, want %s", name, err, want)
		}
	}
	if _, err := single.SelectVariant("first"); err == nil || err.Error() != "plain has no variants" {
		t.Errorf("the error for a scenario without variants is %v", err)
	}
}
