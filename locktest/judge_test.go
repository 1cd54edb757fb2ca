package locktest

import (
	"context"
	"fmt"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// If this machine was too slow for a world, the lock does not fail. If the world takes too
// much memory to be run, the lock fails.
func TestLateIsNobodysFault(t *testing.T) {
	s, err := newSubject("Test", Config{}, func(*Env) (locks.Lock, error) { return nil, context.Canceled })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err      error
		problems int
		reasons  int
	}{
		{sim.ErrLate, 0, 1},
		{sim.ErrHeavy, 1, 1},
		{sim.ErrTooLarge, 1, 1},
	} {
		v := s.judge(address{}, world{}, runs.JudgedRun{}, fmt.Errorf("%w: so it is", c.err))
		if len(v.problems) != c.problems {
			t.Errorf("%v: the problems are %v", c.err, v.problems)
		}
		if v.data != checks.Undecided || len(v.reasons) != c.reasons {
			t.Errorf("%v: it is %s, because of %q", c.err, v.data, v.reasons)
		}
	}
}
