package scenarios

import "testing"

// If some runs of a result are selected, AsExpected depends only on these runs.
func TestSelectRuns(t *testing.T) {
	s, err := Parse("story.yaml", []byte(`
title: A story
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients:
  client-1: {}
expect:
  off: {verdict: safe, violated: []}
variants:
  right: {}
  wrong: {expect: {off: {verdict: unsafe, violated: [write-order]}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Run(s, RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		variant, fencing string
		runs             int
		want             string // AsExpected in words, or the error
	}{
		{"", "", 4, "not as expected"},
		{"", On, 2, "nothing expected"},
		{"right", "", 2, "nothing expected"},
		{"right", Off, 1, "as expected"},
		{"wrong", Off, 1, "not as expected"},
		{"left", "", 0, `story has no variant "left"; known here: right, wrong`},
	} {
		r, err := whole.SelectRuns(c.variant, c.fencing)
		got, runs := "nothing expected", 0
		switch {
		case err != nil:
			got = err.Error()
		case r.AsExpected != nil && *r.AsExpected:
			got = "as expected"
		case r.AsExpected != nil:
			got = "not as expected"
		}
		if err == nil {
			runs = len(r.Runs)
		}
		if got != c.want || runs != c.runs {
			t.Errorf("variant %q, fencing %q: there are %d runs, %s; want %d, %s", c.variant, c.fencing, runs, got, c.runs, c.want)
		}
	}
	if len(whole.Runs) != 4 || len(s.Variants) != 2 {
		t.Error("SelectRuns has changed the whole result")
	}

	off, err := whole.SelectRuns("", Off)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := off.SelectRuns("", On); err == nil || err.Error() != "story has no run with fencing on" {
		t.Errorf("the error for a run that was left out before is %v", err)
	}
}
