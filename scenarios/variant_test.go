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

func TestFacts(t *testing.T) {
	s := mustParse(t, factsFile)
	v := s.Variants[0]
	for _, c := range []struct {
		what string
		got  any
		want string
	}{
		{"faults", v.FaultKinds(), "[pause jump]"},
		{"faults of none", s.Variants[1].FaultKinds(), "[]"},
		{"locks", v.Locks(), "[redlock single]"},
		{"violates", v.Violates(), "[section-exclusion write-order progress]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func TestOnly(t *testing.T) {
	s := mustParse(t, factsFile)
	only, err := s.SelectVariant("second")
	if err != nil {
		t.Fatal(err)
	}
	if only.Title != s.Title || len(only.Variants) != 1 || only.Variants[0] != s.Variants[1] || len(s.Variants) != 2 {
		t.Errorf("got %+v of %+v", only, s)
	}
	single := &Scenario{Name: "plain", Variants: []*Variant{{}}}
	if only, err := single.SelectVariant(""); err != nil || len(only.Variants) != 1 {
		t.Errorf("the only variant of a scenario: %v, %v", only, err)
	}
	for name, want := range map[string]string{
		"secnod": s.Name + ` has no variant "secnod"; did you mean "second"?`,
		"other":  s.Name + ` has no variant "other"; known here: first, second`,
	} {
		if _, err := s.SelectVariant(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := single.SelectVariant("first"); err == nil || err.Error() != "plain has no variants" {
		t.Errorf("a scenario without variants: %v", err)
	}
}
