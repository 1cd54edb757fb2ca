package scenarios

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/locksim/locksim/sim"
)

// RunBoth runs a variant without fencing tokens and with them, with any kind of lock. If
// the scenario does not apply to the lock, there are no runs, and notApplicable says why:
// the lock lacks what the scenario is about, or it is not the scenario's own lock and too
// much happens with it. RunBoth fails in the same cases as [Run].
func (v *Variant) RunBoth(o RunOptions) (runs []RunResult, notApplicable string, err error) {
	for _, fencing := range []string{Off, On} {
		if why := v.whyNotApplicable(o.forFencing(fencing)); why != "" {
			return nil, why, nil
		}
	}
	for _, fencing := range []string{Off, On} {
		run, err := v.Run(o, fencing)
		if lock := cmp.Or(o.Kind.Name, o.Lock, v.Lock); lock != v.Lock && (errors.Is(err, sim.ErrTooMuch) || errors.Is(err, sim.ErrTooLarge)) {
			return nil, err.Error(), nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", v.describe(fencing), err)
		}
		for i, f := range run.History.Trace.Faults {
			if f.NotApplicable && run.Lock != v.Lock {
				return nil, fmt.Sprintf("fault %d (%s): %s", i+1, f.Text, f.IdleReason), nil
			}
		}
		runs = append(runs, run)
	}
	return runs, "", nil
}

// whyNotApplicable returns the reason, known before anything runs, why one run of the
// scenario does not apply to a lock; "" if there is none.
func (v *Variant) whyNotApplicable(o Options) string {
	config, err := v.Config(o)
	switch {
	case err != nil:
		return err.Error()
	case len(config.Doubts) > 0:
		return config.Doubts[0]
	}
	return ""
}
