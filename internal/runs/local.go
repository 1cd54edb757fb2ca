package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// A Local runs worlds in this process, one at a time. A lock that ends the process, or never
// returns, also ends or blocks the program that uses the Local.
type Local struct {
	bases    []Base
	patience time.Duration

	mu sync.Mutex
	// prepared has a prepared base for each of the bases; nil until it is first needed.
	prepared []*preparedBase
	// changed has prepared bases with a [scenarios.Change], such as another number of nodes. Its
	// keys are the [WorldSpec.Key] of the world without faults.
	changed map[string]*preparedBase
}

// A preparedBase is a base that has been parsed, and perhaps changed. Many worlds that
// differ only in their faults share it.
type preparedBase struct {
	variant *scenarios.Variant
	// configs has the configurations without faults, by fencing. Worlds share them, so they
	// must not be changed.
	configs map[string]sim.Config
}

// newPreparedBase prepares a base whose text has been parsed as v.
func newPreparedBase(v *scenarios.Variant) *preparedBase {
	return &preparedBase{variant: v, configs: map[string]sim.Config{}}
}

// NewLocal returns a runner of worlds on the bases. patience is the longest real time that
// a run of a world may take; see [sim.RunPatiently].
func NewLocal(bases []Base, patience time.Duration) *Local {
	return &Local{bases: bases, patience: patience, prepared: make([]*preparedBase, len(bases))}
}

// Run runs a world, without fencing tokens and then with them.
func (l *Local) Run(ctx context.Context, w WorldSpec) (WorldResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return WorldResult{}, err
	}
	cfg, err := l.worldConfig(w, FencingOff)
	if err != nil {
		return WorldResult{}, err
	}
	off, err := l.runConfig(cfg)
	if err != nil {
		return WorldResult{}, err
	}
	if off.History == nil {
		// The lock hangs, or the run takes too long. The run with fencing tokens would do the
		// same, and show nothing new.
		return WorldResult{Off: off.RunResult, On: off.RunResult}, nil
	}
	defer off.recycle()
	on, err := l.baseConfig(w, FencingOn)
	if err != nil {
		return WorldResult{}, err
	}
	on.Faults = cfg.Faults
	if len(off.Breaks) == 0 && FencingChangesNothing(on, off.History) {
		return WorldResult{Off: off.RunResult, On: off.RunResult, Grounds: groundsOf(w, off)}, nil
	}
	fenced, err := l.runConfig(on)
	defer fenced.recycle()
	return WorldResult{Off: off.RunResult, On: fenced.RunResult, Grounds: groundsOf(w, off, fenced)}, err
}

// FencingChangesNothing reports whether the run of a world with fencing tokens would be the
// same as the run without them, in which nothing broke. The storage refuses only a write of
// an older grant after a write of a newer one. In a run in which nothing broke there is no
// such write. This holds only for the tokens of a perfect lock service. A lock or a token
// source that mints its own tokens may mint them in the wrong order.
func FencingChangesNothing(cfg sim.Config, h *history.History) bool {
	mintedTokens := func(s *history.Section) bool { return len(s.Minted) > 0 }
	return cfg.Tokens.Source.Name == "" && cfg.Storage.Fencing == storage.Writes &&
		!slices.ContainsFunc(h.Sections(), mintedTokens)
}

// A RunReport is the result of a run, and what happened in it. What happened is unknown if
// the run takes too long or is too large for this machine.
type RunReport struct {
	RunResult
	JudgedRun
}

// recycle gives the memory of the run's events to the next world. Afterwards only the
// result may be used.
func (r RunReport) recycle() {
	if r.History != nil {
		sim.Recycle(r.History.Trace)
	}
}

// Report runs a world with or without fencing tokens, and returns the report on the run.
// fencing is [FencingOff] or [FencingOn].
func (l *Local) Report(ctx context.Context, w WorldSpec, fencing string) (RunReport, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return RunReport{}, err
	}
	cfg, err := l.worldConfig(w, fencing)
	if err != nil {
		return RunReport{}, err
	}
	return l.runConfig(cfg)
}

// runConfig runs a world whose configuration has been made, and judges it.
func (l *Local) runConfig(cfg sim.Config) (RunReport, error) {
	j, err := Judge(cfg, l.patience, nil)
	if isLate := errors.Is(err, sim.ErrLate); isLate || errors.Is(err, sim.ErrMutex) || errors.Is(err, sim.ErrTooLarge) {
		// The result is unknown, and the lock is not to blame for that.
		return RunReport{RunResult: RunResult{Doubt: err.Error(), Late: isLate}}, nil
	}
	if err != nil {
		return RunReport{JudgedRun: j}, err
	}
	return RunReport{ResultOf(j), j}, nil
}

// Config returns the configuration of a world for package sim, without or with fencing
// tokens: fencing is [FencingOff] or [FencingOn].
func (l *Local) Config(w WorldSpec, fencing string) (sim.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.worldConfig(w, fencing)
}

// worldConfig makes the configuration of a world, with its faults.
func (l *Local) worldConfig(w WorldSpec, fencing string) (sim.Config, error) {
	cfg, err := l.baseConfig(w, fencing)
	if err != nil {
		return cfg, err
	}
	topology := cfg.Topology()
	for _, f := range w.Faults {
		if err := f.Check(topology); err != nil {
			return cfg, err
		}
		cfg.Faults = append(cfg.Faults, f.SimFault())
	}
	return cfg, nil
}

// baseConfig makes the configuration of a world, but without its faults.
func (l *Local) baseConfig(w WorldSpec, fencing string) (sim.Config, error) {
	if w.Base < 0 || w.Base >= len(l.bases) {
		return sim.Config{}, fmt.Errorf("there is no base %d", w.Base)
	}
	base := l.bases[w.Base]
	if base.Config != nil {
		return base.Config(fencing)
	}
	prepared, err := l.prepare(w.Base, w.Change)
	if err != nil {
		return sim.Config{}, err
	}
	if cfg, isMade := prepared.configs[fencing]; isMade {
		return cfg, nil
	}
	cfg, err := prepared.variant.Config(scenarios.Options{Seed: base.Seed, Kind: base.Kind, Fencing: fencing})
	if err != nil {
		return cfg, err
	}
	for i := range cfg.Clients {
		cfg.Clients[i].Run = base.Programs[cfg.Clients[i].Name]
	}
	cfg.Faults = slices.Clip(cfg.Faults)
	prepared.configs[fencing] = cfg
	return cfg, nil
}

// prepare returns the prepared base with a change, and keeps it for later worlds.
func (l *Local) prepare(base int, c scenarios.Change) (*preparedBase, error) {
	if l.prepared[base] == nil {
		v, err := l.bases[base].Variant()
		if err != nil {
			return nil, err
		}
		l.prepared[base] = newPreparedBase(v)
	}
	if c.IsZero() {
		return l.prepared[base], nil
	}
	// Many worlds in a row have the same change, such as how a node writes to its disk.
	name := WorldSpec{Base: base, Change: c}.Key()
	if s := l.changed[name]; s != nil {
		return s, nil
	}
	v, err := l.prepared[base].variant.WithChange(c)
	if err != nil {
		return nil, err
	}
	if len(l.changed) >= maxChanged || l.changed == nil {
		l.changed = map[string]*preparedBase{}
	}
	l.changed[name] = newPreparedBase(v)
	return l.changed[name], nil
}

// maxChanged limits how many changed bases are kept, so the memory of a search does not
// grow with its duration.
const maxChanged = 64
