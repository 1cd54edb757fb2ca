package scenarios

import (
	"fmt"
	"testing"
)

// AsExpected compares the runs with the scenario's expectations. It is nil if the scenario
// expects nothing of some run.
func TestAsExpected(t *testing.T) {
	const story = "title: t\nlock: {kind: redlock, ttl: 30s}\nclients: {client-1: {}}\nexpect:\n"
	yes, no := true, false // AsExpected is a pointer; nil means open
	for _, c := range []struct {
		name, expect string
		want         *bool
	}{
		{"both runs are as expected", "  off: {verdict: safe}\n  on: {verdict: safe}\n", &yes},
		{"one run is not as expected", "  off: {verdict: safe, violated: [progress]}\n  on: {verdict: safe}\n", &no},
		{"of one run nothing is expected", "  off: {verdict: safe}\n", nil},
		{"one run is not as expected, of the other nothing is expected", "  off: {verdict: unsafe, violated: [write-order]}\n", &no},
	} {
		r, err := Run(mustParse(t, story+c.expect), RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.AsExpected; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: as expected is %s, want %s", c.name, describeBool(got), describeBool(c.want))
		}
	}
}

// describeBool returns an AsExpected as a word.
func describeBool(b *bool) string {
	if b == nil {
		return "open"
	}
	return fmt.Sprint(*b)
}
