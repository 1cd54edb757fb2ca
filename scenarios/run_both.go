package scenarios

import "fmt"

// RunBoth runs a variant without fencing tokens and with them, with any kind of lock. If
// the scenario does not apply to the lock, because the lock lacks what the scenario is
// about, there are no runs, and notApplicable says why. RunBoth fails in the same cases as
// [Run].
func (v *Variant) RunBoth(o RunOptions) (runs []RunResult, notApplicable string, err error) {
	config, err := v.Config(o.forFencing(Off))
	if err != nil {
		return nil, err.Error(), nil
	}
	if len(config.Doubts) > 0 {
		return nil, config.Doubts[0], nil
	}
	for _, fencing := range []string{Off, On} {
		run, err := v.Run(o, fencing)
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
