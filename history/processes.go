package history

import "github.com/locksim/locksim/trace"

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
