package sim

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

func init() {
	RegisterFault(FaultKind{
		Name:    "jump",
		Title:   "a process's wall clock is set forward or back",
		Instant: true,
		New:     func() Action { return &Jump{} },
	})
	RegisterFault(FaultKind{
		Name:  "drift",
		Title: "a process's clocks run fast or slow",
		New:   func() Action { return &Drift{} },
	})
}

// Jump is the parameters of the fault of that name.
type Jump struct {
	Process string        `yaml:"jump" json:"jump" jsonschema:"description=The process whose wall clock is set."`
	By      time.Duration `yaml:"by" json:"by" jsonschema:"type=string,description=How far forward it is set; a negative duration sets it back."`
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

func (a *Jump) Targets() [][]string                  { return [][]string{{a.Process}} }
func (a *Jump) Assumption(Topology) trace.Assumption { return trace.AssumeClock }
func (a *Jump) Strike(w *World, _ *FaultState)       { w.byName[a.Process].clock.Jump(a.By) }
func (a *Jump) Lift(*World, *FaultState)             {}
func (a *Jump) clockOf() string                      { return a.Process }

// Drift is the parameters of the fault of that name.
type Drift struct {
	Process string `yaml:"drift" json:"drift" jsonschema:"description=The process whose clocks drift."`
	Rate    string `yaml:"rate" json:"rate" jsonschema:"description=How much too fast they run: +2%\\, -500ppm or +3ppb."`
}

func (a *Drift) Check(t Topology) error {
	if _, err := ParseRate(a.Rate); err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	return t.process("drift", a.Process)
}

func (a *Drift) Targets() [][]string                  { return [][]string{{a.Process}} }
func (a *Drift) Assumption(Topology) trace.Assumption { return trace.AssumeClock }

func (a *Drift) Strike(w *World, _ *FaultState) { a.add(w, 1) }
func (a *Drift) Lift(w *World, _ *FaultState)   { a.add(w, -1) }

// add changes the process's rate by times the fault's: drifts add up.
func (a *Drift) add(w *World, times int64) {
	ppb, err := ParseRate(a.Rate)
	if err != nil {
		panic("sim: a rate that passed Check is refused: " + err.Error())
	}
	p := w.byName[a.Process]
	p.drift += times * ppb
	// More than twice as fast, or standing still, is no drift any more.
	const most = 999_999_999
	if err := p.clock.SetRate(min(max(p.drift, -most), most)); err != nil {
		panic("sim: a rate that is in bounds is refused: " + err.Error())
	}
}

func (a *Drift) clockOf() string { return a.Process }

// ParseRate reads how much too fast a clock runs, in percent, parts per million
// or parts per billion, as whole parts per billion. An error means that it cannot
// be read or is half as fast or slow again: a clock like that is broken.
func ParseRate(s string) (ppb int64, err error) {
	for unit, scale := range map[string]int64{"%": 10_000_000, "ppm": 1_000, "ppb": 1} {
		number, ok := strings.CutSuffix(strings.TrimSpace(s), unit)
		if !ok {
			continue
		}
		r, ok := new(big.Rat).SetString(strings.TrimSpace(number))
		if !ok {
			break
		}
		r.Mul(r, new(big.Rat).SetInt64(scale))
		if !r.IsInt() || !r.Num().IsInt64() {
			return 0, fmt.Errorf("%q is not a whole number of parts per billion", s)
		}
		ppb := r.Num().Int64()
		if ppb > 500_000_000 || ppb < -500_000_000 {
			return 0, fmt.Errorf("%q is more than 50%%", s)
		}
		return ppb, nil
	}
	return 0, fmt.Errorf("%q is no rate: write +2%%, -500ppm or +3ppb", s)
}
