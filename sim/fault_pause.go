package sim

import (
	"fmt"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "pause",
		Title:  "a process stops for a while",
		Effect: trace.StopsProcess,
		New:    func() Action { return &Pause{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{Subject: "{target}", Predicate: "pauses{lasting}", Noun: "a pause of {target}"}},
			{
				Value: string(trace.Suspend), Slug: "suspend",
				Phrases: trace.Phrases{Subject: "{target}", Predicate: "is suspended with its machine{lasting}", Noun: "a suspension of the machine of {target}"},
				// For a process that reads no clock, a suspension has the same effect as a
				// pause.
				Roles: clients, Needs: faultcard.NeedsOwnClock,
			},
		},
		Sites: []Site{{Roles: allRoles, At: faultcard.AtPoints, Lengths: anyLength}},
	})
}

// Pause is the action of the fault pause: a process, or its virtual machine, stops for a
// while.
//
// For code that uses package fakeclock, a pause is exact. In any other code a goroutine
// stops only at its next I/O, and the timers of a library keep running. If a library starts
// I/O because of such a timer, the trace contains an event that says so.
type Pause struct {
	Process string          `yaml:"pause" json:"pause" jsonschema:"description=The process that is paused."`
	Mode    trace.PauseMode `yaml:"mode,omitempty" json:"mode,omitempty" fault:"manner" jsonschema:"enum=stop,enum=suspend,description=stop (the default): the process stops\\, as by SIGSTOP or a garbage collection; suspend: its virtual machine is suspended."`
}

func (a *Pause) check(t Topology) error {
	switch a.Mode {
	case "", trace.Stop, trace.Suspend:
	default:
		return fmt.Errorf("mode: %q is not a kind of pause; write stop or suspend", a.Mode)
	}
	return t.checkProcess("pause", a.Process)
}

func (a *Pause) strike(w *World, f *faultState) {
	mode := a.Mode
	if mode == "" {
		mode = trace.Stop
	}
	if !w.byName[a.Process].pause(mode, f) {
		f.markIneffective(a.Process + " was down when it was to be paused")
	}
}

func (a *Pause) lift(w *World, f *faultState) { w.byName[a.Process].resume(f) }
