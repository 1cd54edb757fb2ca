package sim

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "stall",
		Title:  "the storage stops in the middle of one request",
		Effect: trace.StallsRequest,
		New:    func() Action { return &Stall{} },
		Manners: []Manner{{
			Phrases: trace.Phrases{Subject: "storage", Predicate: "stalls in the middle of {target}'s {step}{lasting}", Noun: "a stall of the storage in the middle of {target}'s {step}"},
		}},
		Sites: []Site{{Roles: clients, At: faultcard.OnRequests, Lengths: anyLength}},
	})
}

// Stall is the action of the fault stall: the storage stops in the middle of one request of a
// client, while it serves other requests. That request is the client's first of the given step
// after the fault's trigger. If the storage checks and writes in two steps, it stops between them,
// and a request that the check refuses does not stall. In all other cases the storage stops before
// it does anything with the request.
//
// A crash of the storage ends the stall, and the request with it.
type Stall struct {
	Client string     `yaml:"stall" json:"stall" jsonschema:"description=The client whose request is held up in the storage\\, between its check and its write if those are two steps."`
	Step   trace.Step `yaml:"step,omitempty" json:"step,omitempty" fault:"step" jsonschema:"enum=read,enum=write,enum=mark,description=Which request: read\\, write (the default) or mark."`
}

func (a *Stall) check(t Topology) error {
	if a.Step != "" && !a.Step.AtStorage() {
		return fmt.Errorf("step: %q is not a request to the storage; write read, write or mark", a.Step)
	}
	return t.checkClient("stall", a.Client, "request is held up")
}

// rule selects the request that the storage stops serving.
func (a *Stall) rule() rule {
	return rule{kind: trace.KindStall, matches: func(ev *trace.Event) bool {
		return ev.Client() == a.Client && ev.Step == cmp.Or(a.Step, trace.Write)
	}}
}

func (a *Stall) strike(w *World, f *faultState) {
	ev := f.heldBack.describe(trace.KindStall)
	ev.Fault = f.number
	w.emit(ev)
}

func (a *Stall) lift(_ *World, f *faultState) { f.releaseHeldBack() }
