package locktest

import (
	"context"
	"fmt"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// That this machine was too slow for a world fails no lock; that a lock never stops
// asking does.
func TestLateIsNobodysFault(t *testing.T) {
	s, err := newSubject("Test", Config{}, func(*Env) (locks.Lock, error) { return nil, context.Canceled })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err      error
		problems int
	}{
		{sim.ErrLate, 0},
		{sim.ErrTooMuch, 1},
	} {
		v := s.judge(address{}, world{}, nil, fmt.Errorf("%w: so it is", c.err))
		if len(v.problems) != c.problems {
			t.Errorf("%v: the problems are %v", c.err, v.problems)
		}
		if late := len(v.reasons) > 0; v.data != checks.Undecided || late != (c.problems == 0) {
			t.Errorf("%v: it is %s, because of %q", c.err, v.data, v.reasons)
		}
	}
}
