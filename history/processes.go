package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A State is what a process is in.
type State string

const (
	Running State = "running"
	Paused  State = "paused"
	Down    State = "down"
	// Failing: it runs, and answers every command with an error. A process can be failing
	// and paused at once; [Processes] does not follow it.
	Failing State = "failing"
)

// Processes is a reader: it follows which processes are paused and which are down.
type Processes struct{ state map[string]State }

// NewProcesses returns a reader that has seen nothing: every process runs.
func NewProcesses() *Processes { return &Processes{map[string]State{}} }

// See takes in the next event.
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

// Of is what a process is in now.
func (p *Processes) Of(name string) State {
	if s, known := p.state[name]; known {
		return s
	}
	return Running
}

// process is what is known of a process before the run; zero for one that is not known.
func (h *History) process(name string) trace.ProcessInfo {
	if i, known := h.places[name]; known {
		return h.Trace.Processes[i]
	}
	return trace.ProcessInfo{}
}

// PlannedWrites is how many writes a client is to make in each of its sections; 0 if the trace
// does not say.
func (h *History) PlannedWrites(client string) int { return h.process(client).Writes }

// Role is what a process is; "" for one that is not known.
func (h *History) Role(process string) trace.Role { return h.process(process).Role }

// IsClient reports whether a process is a client.
func (h *History) IsClient(process string) bool { return h.Role(process) == trace.RoleClient }

// InOrder lists each of some processes once, in the order of the world; those that are not
// known come first.
func (h *History) InOrder(names []string) []string {
	place := func(name string) int {
		if i, known := h.places[name]; known {
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
