package sim

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

func init() {
	RegisterFault(FaultKind{
		Name:    "stall",
		Title:   "the storage stops in the middle of one request",
		Patient: true,
		New:     func() Action { return &Stall{} },
	})
}

// Stall is the parameters of the fault of that name: from its moment on, the
// next such request of the client has its serving thread stopped, while others
// are served. A storage that checks and then writes is stopped between the two;
// a request that it refuses at the check never gets there. Every other is
// stopped before it deals with the request at all.
//
// A crash of the storage ends the stall, and the request with it.
type Stall struct {
	Client string     `yaml:"stall" json:"stall" jsonschema:"description=The client whose request is held up in the storage\\, between its check and its write if those are two steps."`
	Step   trace.Step `yaml:"step,omitempty" json:"step,omitempty" jsonschema:"enum=read,enum=write,enum=mark,description=Which request: read\\, write (the default) or mark."`
}

func (a *Stall) Check(t Topology) error {
	if a.Step != "" && !a.Step.AtStorage() {
		return fmt.Errorf("step: %q is no request to the storage; write read, write or mark", a.Step)
	}
	if err := t.process("stall", a.Client); err != nil {
		return err
	}
	if !t.Clients[a.Client] {
		return fmt.Errorf("stall: %s is no client; name the client whose request is held up", a.Client)
	}
	return nil
}

func (a *Stall) Targets() [][]string                  { return [][]string{{a.Client}} }
func (a *Stall) Assumption(Topology) trace.Assumption { return trace.AssumeProcess }

func (a *Stall) Strike(w *World, f *FaultState) {
	ev := f.stalled.event(trace.KindStall)
	ev.Fault = f.number
	w.emit(ev)
}

func (a *Stall) Lift(w *World, f *FaultState) {
	s := f.stalled
	f.stalled = nil
	s.peer.n.goOn(s)
}

func (a *Stall) waitsFor(s *serving) bool {
	step := a.Step
	if step == "" {
		step = trace.Write
	}
	return s.ctx.client == a.Client && trace.Step(s.req.Op) == step
}

// stallIfAsked holds a request up if a fault waits for it, and reports whether
// one did.
func (w *World) stallIfAsked(s *serving) bool {
	for _, f := range w.faults {
		stall, ok := f.fault.Action.(*Stall)
		if ok && f.armed && !f.struck && stall.waitsFor(s) {
			f.stalled = s
			f.strike()
			return true
		}
	}
	return false
}
