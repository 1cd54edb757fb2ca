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

// A Local runs worlds in this process, one at a time. A lock that ends the process or
// never returns ends the search with it.
type Local struct {
	bases    []Base
	patience time.Duration

	mu sync.Mutex
	// settings are those of the bases, read when they are first needed.
	settings []*setting
	// changed are some of them with a change, by world without faults.
	changed map[string]*setting
}

// A setting is a base, perhaps with a change, in which many worlds have only their faults
// to themselves.
type setting struct {
	story *scenarios.Variant
	// made are its worlds without faults, by fencing. Nobody writes to what they share.
	made map[string]sim.Config
}

func settingOf(v *scenarios.Variant) *setting {
	return &setting{story: v, made: map[string]sim.Config{}}
}

// NewLocal makes a runner of worlds on some bases. patience is how much real time each
// run of a world may take; see [sim.RunPatiently].
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
		// It hangs, or takes too long: once is enough.
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

// indifferent says that fencing changes nothing in a world in which nothing broke
// without it: no write of an older grant came after one of a newer, so that a storage
// that only refuses those refuses none. That holds for the tokens of a perfect lock
// service; those of others may be wrong.
func indifferent(cfg sim.Config, h *history.History) bool {
	minted := func(s *history.Section) bool { return len(s.Minted) > 0 }
	return cfg.Tokens.Source.Name == "" && cfg.Storage.Fencing == storage.Writes &&
		!slices.ContainsFunc(h.Sections(), minted)
}

// An Account is a run with what happened in it, of which nothing is known if the run takes
// too long or is too large for this machine.
type Account struct {
	Run
	Judged
}

// Account runs a world with or without fencing.
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

// play runs a world that was made.
func (l *Local) play(cfg sim.Config) (Account, error) {
	j, err := Judge(cfg, l.patience, nil)
	if late := errors.Is(err, sim.ErrLate); late || errors.Is(err, sim.ErrTooLarge) {
		// What it would have come to nobody knows, and it is not the lock's fault.
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
		case j.Ending != nil && string(f.Property) == j.Ending.Rule: // it is what people have to hear first
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

// Config is a world as package sim runs it, without fencing tokens or with them:
// fencing is [Without] or [With].
func (l *Local) Config(w World, fencing string) (sim.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.config(w, fencing)
}

// config makes a world.
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

// base makes a world without its faults.
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

// setting is a base with a change.
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
	// Many worlds in a row have one change: what a node writes to its disk.
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

// mostChanged bounds how many changed bases are kept: a search takes no more memory the
// longer it goes on.
const mostChanged = 64
