package scenarios

import "fmt"

// Tell runs a variant without fencing tokens and with them, with any kind of
// lock. Where its story cannot be told with that lock, because the lock lacks
// what the story is about, untold says why and there are no runs. The error is
// that of [Run].
func (v *Variant) Tell(o RunOptions) (runs []Outcome, untold string, err error) {
	config, err := v.Config(o.of(Off))
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
			if f.Moot && run.Lock != v.Lock {
				return nil, fmt.Sprintf("fault %d (%s): %s", i+1, f.Text, f.Idle), nil
			}
		}
		runs = append(runs, run)
	}
	return runs, "", nil
}
