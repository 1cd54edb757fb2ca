package sim

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/trace"
)

func init() {
	RegisterFault(FaultKind{
		Name:    "jump",
		Title:   "a process's wall clock is set forward or back",
		Effect:  trace.SetsClock,
		Instant: true,
		New:     func() Action { return &Jump{} },
		Manners: []Manner{
			{Slug: "jump-forward", Phrases: trace.Phrases{Subject: "{target}'s clock", Does: "jumps ahead by {size}", Noun: "{target}'s clock set forward"}},
			{Value: Less, Slug: "jump-back", Phrases: trace.Phrases{Subject: "{target}'s clock", Does: "jumps back by {size}", Noun: "{target}'s clock set back"}},
		},
		Sites: []Site{{Roles: []trace.Role{trace.RoleNode, trace.RoleClient}, At: AtPoints, Lengths: anyLength, Needs: NeedsOwnClock}},
	})
	RegisterFault(FaultKind{
		Name:   "drift",
		Title:  "a process's clocks run fast or slow",
		Effect: trace.DriftsClock,
		New:    func() Action { return &Drift{} },
		Manners: []Manner{
			{Slug: "drift-fast", Phrases: trace.Phrases{Subject: "{target}'s clocks", Does: "run {size} fast{lasting}", Noun: "{target}'s clocks running fast"}},
			{Value: Less, Slug: "drift-slow", Phrases: trace.Phrases{Subject: "{target}'s clocks", Does: "run {size} slow{lasting}", Noun: "{target}'s clocks running slow"}},
		},
		// A clock drifts for as long as it is not set. Locks allow for one or two percent;
		// where that is not enough a margin says how much would do.
		Sites: []Site{
			{Roles: clients, At: AtSteps, Rates: []Rate{FastestRate, 2 * Percent}, Needs: NeedsOwnClock},
			{Roles: nodes, At: AtPoints, Rates: []Rate{FastestRate}},
		},
	})
}

// Jump is the parameters of the fault of that name.
type Jump struct {
	Process string        `yaml:"jump" json:"jump" jsonschema:"description=The process whose wall clock is set."`
	By      time.Duration `yaml:"by" json:"by" fault:"size" jsonschema:"type=string,description=How far forward it is set; a negative duration sets it back."`
}

func (a *Jump) Check(t Topology) error {
	if a.By == 0 {
		return fmt.Errorf("by: say how far the clock jumps, such as 31s or -10s")
	}
	if err := positive("by", a.By.Abs()); err != nil {
		return err
	}
	return t.process("jump", a.Process)
}

func (a *Jump) Strike(w *World, _ *FaultState) { w.byName[a.Process].clock.Jump(a.By) }
func (a *Jump) Lift(*World, *FaultState)       {}

// Drift is the parameters of the fault of that name.
type Drift struct {
	Process string `yaml:"drift" json:"drift" jsonschema:"description=The process whose clocks drift."`
	Rate    Rate   `yaml:"rate" json:"rate" fault:"size" jsonschema:"description=How much too fast they run: +2%\\, -500ppm or +3ppb."`
}

func (a *Drift) Check(t Topology) error {
	switch {
	case a.Rate == 0:
		return fmt.Errorf("rate: say how much too fast the clocks run, such as +2%% or -500ppm")
	case a.Rate.abs() > FastestRate:
		return fmt.Errorf("rate: %s is more than 50%%", a.Rate)
	}
	return t.process("drift", a.Process)
}

func (a *Drift) Strike(w *World, _ *FaultState) { a.add(w, 1) }
func (a *Drift) Lift(w *World, _ *FaultState)   { a.add(w, -1) }

// add changes the process's rate by times the fault's: drifts add up.
func (a *Drift) add(w *World, times int64) {
	p := w.byName[a.Process]
	p.drift += times * int64(a.Rate)
	// More than twice as fast, or standing still, is no drift any more.
	const most = 999_999_999
	if err := p.clock.SetRate(min(max(p.drift, -most), most)); err != nil {
		panic("sim: a rate that is in bounds is refused: " + err.Error())
	}
}
