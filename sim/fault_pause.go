package sim

import "fmt"

func init() {
	RegisterFault(FaultKind{
		Name:  "pause",
		Title: "a process stops for a while",
		New:   func() Action { return &Pause{} },
	})
}

// Mode is how a process is paused.
type Mode string

const (
	// Stop stops the process, as a garbage collector or SIGSTOP does: its clocks
	// run on, its timers fire when it resumes.
	Stop Mode = "stop"
	// Suspend suspends the virtual machine: its monotonic clock stands still, its
	// wall clock jumps when it resumes.
	Suspend Mode = "suspend"
)

// Pause is the parameters of the fault of that name.
//
// A pause is exact for code written on fakeclock. For other code it is an I/O
// stall: every goroutine stops at its next I/O, but timers inside a library do
// run on. If the library starts I/O because of one, the trace says that it ran on
// while paused.
type Pause struct {
	Process string `yaml:"pause" json:"pause" jsonschema:"description=The process that is paused."`
	Mode    Mode   `yaml:"mode,omitempty" json:"mode,omitempty" jsonschema:"enum=stop,enum=suspend,description=stop (the default): as SIGSTOP or a garbage collector; suspend: the virtual machine."`
}

func (a *Pause) Check(t Topology) error {
	switch a.Mode {
	case "", Stop, Suspend:
	default:
		return fmt.Errorf("mode: %q is no way to pause; write stop or suspend", a.Mode)
	}
	return t.process("pause", a.Process)
}

func (a *Pause) Targets() [][]string            { return [][]string{{a.Process}} }
func (a *Pause) Assumption(Topology) Assumption { return AssumeProcess }
func (a *Pause) stops() string                  { return a.Process }

func (a *Pause) Strike(w *World, f *FaultState) {
	mode := a.Mode
	if mode == "" {
		mode = Stop
	}
	if !w.byName[a.Process].pause(mode, f) {
		f.inVain(a.Process + " was down when it was to be paused")
	}
}

func (a *Pause) Lift(w *World, f *FaultState) { w.byName[a.Process].resume(f) }
