package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A State is the state of a process.
type State string

const (
	Running State = "running"
	Paused  State = "paused"
	Down    State = "down"
	// Failing: it runs, and answers every command with an error. A process can be failing and
	// paused at the same time; [Processes] does not follow the state Failing.
	Failing State = "failing"
)

// Processes is a reader that follows which processes are paused and which are down.
type Processes struct{ state map[string]State }

// NewProcesses returns a reader that has seen nothing; every process is running.
func NewProcesses() *Processes { return &Processes{map[string]State{}} }

// See updates the states by the next event of the run.
func (p *Processes) See(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindPause:
		p.state[ev.Process] = Paused
	case trace.KindCrash:
		p.state[ev.Process] = Down
	case trace.KindResume, trace.KindRestart:
		delete(p.state, ev.Process)
	}
}

// Of returns the current state of a process.
func (p *Processes) Of(name string) State {
	if s, known := p.state[name]; known {
		return s
	}
	return Running
}

// processInfo returns the trace's description of a process; zero if there is no such
// process.
func (h *History) processInfo(name string) trace.ProcessInfo {
	if i, known := h.processOrder[name]; known {
		return h.Trace.Processes[i]
	}
	return trace.ProcessInfo{}
}

// PlannedWrites returns how many writes a client is to make in each of its critical sections; 0 if
// the trace does not contain it.
func (h *History) PlannedWrites(client string) int { return h.processInfo(client).Writes }

// Role returns the role of a process; "" if there is no such process.
func (h *History) Role(process string) trace.Role { return h.processInfo(process).Role }

// IsClient reports whether a process is a client.
func (h *History) IsClient(process string) bool { return h.Role(process) == trace.RoleClient }

// InWorldOrder returns the given processes without duplicates, in the order of the world;
// unknown processes come first.
func (h *History) InWorldOrder(names []string) []string {
	place := func(name string) int {
		if i, known := h.processOrder[name]; known {
			return i
		}
		return -1
	}
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
	return slices.Compact(names)
}
