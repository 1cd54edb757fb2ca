package sim

import (
	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "cancel",
		Title:  "a client cancels the context of its running call of the lock",
		Effect: trace.CancelsCall,
		New:    func() Action { return &Cancel{} },
		Manners: []Manner{{Phrases: trace.Phrases{
			Subject: "{target}", Predicate: "cancels the call of its lock", Noun: "a call that {target} cancels",
		}}},
		Sites: []Site{{Roles: clients, At: faultcard.AtCalls}},
	})
}

// Cancel is the action of the fault cancel: a client cancels the context of its current
// call of the lock, once. If the call fails, the client continues as after any failure. A
// paused client cancels the call when it resumes, if the call has not ended by then.
type Cancel struct {
	Client string `yaml:"cancel" json:"cancel" jsonschema:"description=The client that cancels its running call of the lock: acquire\\, extend or release."`
}

func (a *Cancel) check(t Topology) error {
	return t.checkClient("cancel", a.Client, "call is cancelled")
}

func (a *Cancel) strike(w *World, f *faultState) {
	if !w.byName[a.Client].actor.cancel() {
		f.markIneffective(a.Client + " had no running call of its lock that could be cancelled")
	}
}

// canBeCancelled reports whether the world has a fault [Cancel] for the client.
func (w *World) canBeCancelled(client string) bool {
	for _, f := range w.cfg.Faults {
		if a, ok := f.Action.(*Cancel); ok && a.Client == client {
			return true
		}
	}
	return false
}
