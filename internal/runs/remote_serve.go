package runs

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A workOrder is what a pool sends to a worker: first the bases, then one world after
// another.
type workOrder struct {
	Bases []Base     `json:"bases,omitempty"`
	World *wireWorld `json:"world,omitempty"`
	// ReportFencing, if not "", asks for a report on one run of the world: it is the fencing of
	// that run.
	ReportFencing string `json:"account,omitempty"`
}

// A wireWorld is a world whose faults are already converted to parameters. Converting each
// fault by its own MarshalJSON would cost as much time as all the rest.
type wireWorld struct {
	Base   int              `json:"base,omitempty"`
	Faults []Parameters     `json:"faults,omitempty"`
	Change scenarios.Change `json:"change,omitzero"`
}

// toWire returns the world in the form in which it is sent to workers.
func (w WorldSpec) toWire() *wireWorld {
	s := &wireWorld{Base: w.Base, Change: w.Change}
	for _, f := range w.Faults {
		s.Faults = append(s.Faults, f.Parameters())
	}
	return s
}

// world returns the world that a wireWorld describes.
func (s *wireWorld) world() (WorldSpec, error) {
	w := WorldSpec{Base: s.Base, Change: s.Change}
	for _, p := range s.Faults {
		f, err := p.Fault()
		if err != nil {
			return w, err
		}
		w.Faults = append(w.Faults, f)
	}
	return w, nil
}

// A workReply is a worker's answer to the order to run a world.
type workReply struct {
	Outcome WorldResult `json:"outcome,omitzero"`
	Grounds Grounds     `json:"grounds,omitzero"`
	// Trace is set if a report was asked for: what happened in the run, as far as a saved
	// trace has it. The result of that run is in Outcome.Off, whatever its fencing.
	Trace *trace.Trace `json:"trace,omitempty"`
	// Ending is set instead of Trace if the run has no trace: how the lock ended it. The
	// stacks of the ending are in Stacks, because the JSON of an ending leaves them out.
	Ending *trace.Ending `json:"ending,omitempty"`
	Stacks string        `json:"stacks,omitempty"`
	// Error says why the world cannot be run.
	Error string `json:"error,omitempty"`
}

// maxLeaks is how many worlds may leave goroutines behind in one process, before a new
// process takes over. Such goroutines take memory as long as the process lives.
const maxLeaks = 200

// ServeWorlds makes this process a worker of a [Remote]. It runs the worlds that the Remote sends.
// local makes the runner of the worlds from the bases. The bases arrive without Kind, Programs and
// Config, so local sets these where they are needed. ServeWorlds does not return; see [Serve].
func ServeWorlds(in io.Reader, out io.Writer, local func(bases []Base) (Backend, error)) {
	// Worlds are many and short, so collecting garbage less often saves much time.
	debug.SetGCPercent(800)
	var worlds Backend
	leaks := 0
	Serve(in, out, func(o workOrder, _ func(string)) (any, bool) {
		if o.World == nil {
			var err error
			if worlds, err = local(o.Bases); err != nil {
				return err.Error(), false
			}
			return "", false
		}
		var r workReply
		w, err := o.World.world()
		switch {
		case err != nil:
		case o.ReportFencing != "":
			var a RunReport
			a, err = worlds.Report(context.Background(), w, o.ReportFencing)
			switch r.Outcome.Off = a.RunResult; {
			case a.History != nil:
				r.Trace = a.History.Trace
			case a.Ending != nil:
				r.Ending, r.Stacks = a.Ending, shortStack(a.Ending.Stacks)
			}
		default:
			r.Outcome, err = worlds.Run(context.Background(), w)
		}
		if err != nil {
			r.Error = err.Error()
		}
		r.Grounds = r.Outcome.Grounds
		if r.Outcome.hasBreak(trace.ConductLeak) {
			leaks++
		}
		// After some worlds a new process has to take over. Code that hangs keeps running, and
		// may keep a processor busy. Goroutines that were left behind take memory.
		return r, leaks == maxLeaks || r.Outcome.hasBreak(trace.ConductHang) || sim.LeftBehind() > 0
	})
}
