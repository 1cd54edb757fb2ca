package sim

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "jump",
		Title:  "a process's wall clock is set forward or back",
		Effect: trace.SetsClock,
		New:    func() Action { return &Jump{} },
		Manners: []Manner{
			{Slug: "jump-forward", Phrases: trace.Phrases{Subject: "{target}'s clock", Predicate: "jumps ahead by {size}", Noun: "{target}'s clock set forward"}},
			{Value: faultcard.Negative, Slug: "jump-back", Phrases: trace.Phrases{Subject: "{target}'s clock", Predicate: "jumps back by {size}", Noun: "{target}'s clock set back"}},
		},
		Sites: []Site{{Roles: []trace.Role{trace.RoleNode, trace.RoleClient}, At: faultcard.AtPoints, Lengths: anyLength, Needs: faultcard.NeedsOwnClock}},
	})
	registerFault(FaultKind{
		Name:   "drift",
		Title:  "a process's clocks run fast or slow",
		Effect: trace.DriftsClock,
		New:    func() Action { return &Drift{} },
		Manners: []Manner{
			{Slug: "drift-fast", Phrases: trace.Phrases{Subject: "{target}'s clocks", Predicate: "run {size} fast{lasting}", Noun: "{target}'s clocks running fast"}},
			{Value: faultcard.Negative, Slug: "drift-slow", Phrases: trace.Phrases{Subject: "{target}'s clocks", Predicate: "run {size} slow{lasting}", Noun: "{target}'s clocks running slow"}},
		},
		// The fault has no Lengths: a clock drifts until somebody sets it. Many locks allow for a
		// drift of one or two percent, so a search also tries clients whose clocks drift by 2%.
		Sites: []Site{
			{Roles: clients, At: faultcard.AtSteps, Rates: []Rate{FastestRate, 2 * Percent}, Needs: faultcard.NeedsOwnClock},
			{Roles: nodes, At: faultcard.AtPoints, Rates: []Rate{FastestRate}},
		},
	})
}

// Jump is the action of the fault jump: a wall clock is set forward or back.
type Jump struct {
	Process string        `yaml:"jump" json:"jump" jsonschema:"description=The process whose wall clock is set."`
	By      time.Duration `yaml:"by" json:"by" fault:"size" jsonschema:"type=string,description=How far forward it is set; a negative duration sets it back."`
}

func (a *Jump) check(t Topology) error {
	if a.By == 0 {
		return fmt.Errorf("by: write how far the clock jumps, such as 31s or -10s")
	}
	if err := checkPositive("by", a.By.Abs()); err != nil {
		return err
	}
	return t.checkProcess("jump", a.Process)
}

func (a *Jump) strike(w *World, _ *faultState) { w.byName[a.Process].clock.Jump(a.By) }

// Drift is the action of the fault drift: both clocks of a process run fast or slow.
type Drift struct {
	Process string `yaml:"drift" json:"drift" jsonschema:"description=The process whose clocks drift."`
	Rate    Rate   `yaml:"rate" json:"rate" fault:"size" jsonschema:"description=How much too fast they run: +2%\\, -500ppm or +3ppb."`
}

func (a *Drift) check(t Topology) error {
	switch {
	case a.Rate == 0:
		return fmt.Errorf("rate: write how much too fast the clocks run, such as +2%% or -500ppm")
	case a.Rate.abs() > FastestRate:
		return fmt.Errorf("rate: %s is more than 50%%", a.Rate)
	}
	return t.checkProcess("drift", a.Process)
}

func (a *Drift) strike(w *World, f *faultState) {
	p := w.byName[a.Process]
	p.drifts = append(p.drifts, activeDrift{f, a.Rate})
	p.setRate()
}

func (a *Drift) lift(w *World, f *faultState) {
	p := w.byName[a.Process]
	p.drifts = slices.DeleteFunc(p.drifts, func(d activeDrift) bool { return d.fault == f })
	p.setRate()
}

// maxDrifts bounds the drifts of one process. If four drifts last at the same time, the clocks run
// at less than six times the normal speed, and at more than a twentieth of that speed.
const maxDrifts = 4

// TooManyDrifts is the error of a world in which one process has more than four drifts.
type TooManyDrifts struct {
	// Fault is the index in [Config.Faults] of the first drift that is too many.
	Fault   int
	Process string
}

func (e *TooManyDrifts) Error() string {
	return fmt.Sprintf("%s has more than %d drifts, which multiply if they act at the same time; remove some", e.Process, maxDrifts)
}

// CheckDrifts returns a [TooManyDrifts] if a process has more than four drifts.
func (cfg *Config) CheckDrifts() error {
	drifts := map[string]int{}
	for i, f := range cfg.Faults {
		if drift, is := f.Action.(*Drift); is {
			if drifts[drift.Process]++; drifts[drift.Process] > maxDrifts {
				return &TooManyDrifts{Fault: i, Process: drift.Process}
			}
		}
	}
	return nil
}

// activeDrift is one drift of a process's clocks, while the fault lasts.
type activeDrift struct {
	fault *faultState
	rate  Rate
}

// setRate sets the rate of the process's clocks from all its drifts. Drifts multiply: with
// two drifts of -50% the clocks run at a quarter of the normal speed. The product is exact
// before it is rounded, so it does not depend on the order of the drifts.
func (p *process) setRate() {
	speed := big.NewRat(1, 1)
	for _, d := range p.drifts {
		speed.Mul(speed, big.NewRat(int64(Percent)*100+int64(d.rate), int64(Percent)*100))
	}
	ppb := speed.Sub(speed, big.NewRat(1, 1)).Mul(speed, big.NewRat(int64(Percent)*100, 1))
	if err := p.clock.SetRate(roundDown(ppb)); err != nil {
		panic("sim: a rate that is in bounds is refused: " + err.Error())
	}
}

// roundDown returns the largest integer that is not greater than a fraction.
func roundDown(r *big.Rat) int64 {
	return new(big.Int).Div(r.Num(), r.Denom()).Int64() // Div is Euclidean division, which rounds down if the denominator is positive
}
