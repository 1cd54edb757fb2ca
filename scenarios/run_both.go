package scenarios

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/locksim/locksim/sim"
)

// RunBoth runs a variant without fencing tokens and with them, with any kind of lock. If the
// scenario does not apply to the lock, there are no runs, and notApplicable says why: the
// lock lacks what the scenario is about or, if it is not the scenario's own lock, a fault
// cannot act on it or a run is too large. There is one run if the options leave out the
// other. RunBoth fails in the same cases as [Run].
func (v *Variant) RunBoth(o RunOptions) (runs []RunResult, notApplicable string, err error) {
	configs := map[string]sim.Config{}
	for _, fencing := range []string{Off, On} {
		config, why := v.applicableConfig(o.forFencing(fencing))
		if why != "" {
			return nil, why, nil
		}
		configs[fencing] = config
	}
	for _, fencing := range []string{Off, On} {
		if fencing == On && o.SkipsFencing != nil && o.SkipsFencing(configs[On], runs[0]) {
			break
		}
		run, err := v.runConfig(configs[fencing], o, fencing)
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
	_, why := v.applicableConfig(o)
	return why
}

// applicableConfig returns the configuration of one run. If it is known before anything runs
// that the scenario does not apply to the lock, it returns the reason.
func (v *Variant) applicableConfig(o Options) (config sim.Config, why string) {
	config, err := v.Config(o)
	switch {
	case err != nil:
		return config, err.Error()
	case len(config.Doubts) > 0:
		return config, config.Doubts[0]
	}
	return config, ""
}
