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
func TestSlowMachineDoesNotFailTheLock(t *testing.T) {
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
			t.Errorf("%v: the problems are %v, want %d", c.err, v.problems, c.problems)
		}
		if v.data != checks.Undecided || len(v.reasons) != c.reasons {
			t.Errorf("%v: the verdict on the data is %s with the reasons %q, want %s with %d reasons", c.err, v.data, v.reasons, checks.Undecided, c.reasons)
		}
	}
}
