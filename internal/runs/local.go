package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// A Local runs worlds in this process, one at a time. A lock that ends the process or never
// returns also ends the search.
type Local struct {
	bases    []Base
	patience time.Duration

	mu sync.Mutex
	// prepared are the bases, each prepared when it is first needed.
	settings []*setting
	// changed are bases with a change, by [WorldSpec.Key] without faults.
	changed map[string]*setting
}

// A preparedBase is a base, perhaps with a change. It is shared by many worlds that differ
// only in their faults.
type setting struct {
	story *scenarios.Variant
	// configs are its worlds without faults, by fencing. They are shared and must not be
	// changed.
	made map[string]sim.Config
}

func settingOf(v *scenarios.Variant) *setting {
	return &setting{story: v, made: map[string]sim.Config{}}
}

// NewLocal returns a runner of worlds on the bases. patience is the most real time that
// each run of a world may take; see [sim.RunPatiently].
func NewLocal(bases []Base, patience time.Duration) *Local {
	return &Local{bases: bases, patience: patience, settings: make([]*setting, len(bases))}
}

// Run runs a world.
func (l *Local) Run(ctx context.Context, w World) (Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	cfg, err := l.config(w, Without)
	if err != nil {
		return Outcome{}, err
	}
	off, err := l.play(cfg)
	if err != nil {
		return Outcome{}, err
	}
	if off.History == nil {
		// It hangs, or takes too long: one such run is enough.
		return Outcome{Off: off.Run, On: off.Run}, nil
	}
	on, err := l.base(w, With)
	if err != nil {
		return Outcome{}, err
	}
	on.Faults = cfg.Faults
	if len(off.Breaks) == 0 && indifferent(on, off.History) {
		return Outcome{Off: off.Run, On: off.Run, Grounds: grounds(w, off)}, nil
	}
	fenced, err := l.play(on)
	return Outcome{Off: off.Run, On: fenced.Run, Grounds: grounds(w, off, fenced)}, err
}

// fencingChangesNothing reports whether fencing changes nothing in a world in which nothing
// broke without it. That is so if no write of an older grant came after a write of a newer
// one, because the storage refuses only such writes. It holds only for the tokens of a
// perfect lock service; other tokens may be wrong.
func indifferent(cfg sim.Config, h *history.History) bool {
	minted := func(s *history.Section) bool { return len(s.Minted) > 0 }
	return cfg.Tokens.Source.Name == "" && cfg.Storage.Fencing == storage.Writes &&
		!slices.ContainsFunc(h.Sections(), minted)
}

// A RunReport is the result of a run and what happened in it. The latter is unknown if the
// run takes too long or is too large for this machine.
type Account struct {
	Run
	Judged
}

// Report runs a world with or without fencing tokens, and reports what happened. fencing is
// [FencingOff] or [FencingOn].
func (l *Local) Account(ctx context.Context, w World, fencing string) (Account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Account{}, err
	}
	cfg, err := l.config(w, fencing)
	if err != nil {
		return Account{}, err
	}
	return l.play(cfg)
}

// runConfig runs a world that has been made.
func (l *Local) play(cfg sim.Config) (Account, error) {
	j, err := Judge(cfg, l.patience, nil)
	if late := errors.Is(err, sim.ErrLate); late || errors.Is(err, sim.ErrTooLarge) {
		// The result is unknown, and the lock is not to blame for that.
		return Account{Run: Run{Doubt: err.Error(), Late: late}}, nil
	}
	p := Account{Judged: j}
	if err != nil {
		return p, err
	}
	p.RanOn = j.Verdict.RanOn
	if len(j.Verdict.Reasons) > 0 && j.Ending == nil {
		p.Doubt = story.InFull.Reason(j.Verdict.Reasons[0])
	}
	for _, f := range j.Verdict.Findings {
		switch {
		case !f.Counts():
		case j.Ending != nil && string(f.Property) == j.Ending.Rule: // people have to see this first
			said := strings.TrimSpace(j.Ending.Why + "\n" + j.Ending.Stacks)
			p.Breaks = slices.Insert(p.Breaks, 0, Break{string(f.Property), f.Fault, shortStack(said)})
		default:
			p.Breaks = append(p.Breaks, Break{What: string(f.Property), Fault: f.Fault})
		}
	}
	if p.History != nil {
		p.Behaviour, p.Spare = behaviour(p.History)
	}
	return p, nil
}

// Config returns the configuration of a world for package sim, without or with fencing
// tokens: fencing is [FencingOff] or [FencingOn].
func (l *Local) Config(w World, fencing string) (sim.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.config(w, fencing)
}

// worldConfig makes the configuration of a world.
func (l *Local) config(w World, fencing string) (sim.Config, error) {
	cfg, err := l.base(w, fencing)
	if err != nil {
		return cfg, err
	}
	topology := cfg.Topology()
	for _, f := range w.Faults {
		if err := f.Check(topology); err != nil {
			return cfg, err
		}
		cfg.Faults = append(cfg.Faults, f.Sim())
	}
	return cfg, nil
}

// baseConfig makes the configuration of a world without its faults.
func (l *Local) base(w World, fencing string) (sim.Config, error) {
	if w.Base < 0 || w.Base >= len(l.bases) {
		return sim.Config{}, fmt.Errorf("there is no base %d", w.Base)
	}
	base := l.bases[w.Base]
	if base.Config != nil {
		return base.Config(fencing)
	}
	s, err := l.setting(w.Base, w.Change)
	if err != nil {
		return sim.Config{}, err
	}
	if cfg, made := s.made[fencing]; made {
		return cfg, nil
	}
	cfg, err := s.story.Config(scenarios.Options{Seed: base.Seed, Kind: base.Kind, Fencing: fencing})
	if err != nil {
		return cfg, err
	}
	for i := range cfg.Clients {
		cfg.Clients[i].Run = base.Programs[cfg.Clients[i].Name]
	}
	cfg.Faults = slices.Clip(cfg.Faults)
	s.made[fencing] = cfg
	return cfg, nil
}

// prepare returns a base with a change.
func (l *Local) setting(base int, c scenarios.Change) (*setting, error) {
	if l.settings[base] == nil {
		v, err := l.bases[base].Story()
		if err != nil {
			return nil, err
		}
		l.settings[base] = settingOf(v)
	}
	if c.IsZero() {
		return l.settings[base], nil
	}
	// Many worlds in a row have the same change: what a node writes to its disk.
	name := World{Base: base, Change: c}.Key()
	if s := l.changed[name]; s != nil {
		return s, nil
	}
	v, err := l.settings[base].story.With(c)
	if err != nil {
		return nil, err
	}
	if len(l.changed) >= mostChanged || l.changed == nil {
		l.changed = map[string]*setting{}
	}
	l.changed[name] = settingOf(v)
	return l.changed[name], nil
}

// maxChanged bounds how many changed bases are kept, so that the memory of a search does
// not grow with its duration.
const mostChanged = 64
