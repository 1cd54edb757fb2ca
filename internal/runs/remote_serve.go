package runs

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A workOrder is what a pool tells a worker: first the bases, then one world after
// another.
type workOrder struct {
	Bases []Base     `json:"bases,omitempty"`
	World *sentWorld `json:"world,omitempty"`
	// Account, if not "", asks for all that happened in one of the world's runs.
	Account string `json:"account,omitempty"`
}

// A sentWorld is a world whose faults are parameters from the outset: to have each write
// itself costs as much as all the rest.
type sentWorld struct {
	Base   int              `json:"base,omitempty"`
	Faults []Parameters     `json:"faults,omitempty"`
	Change scenarios.Change `json:"change,omitzero"`
}

// send is the world as workers are told it.
func (w World) send() *sentWorld {
	s := &sentWorld{Base: w.Base, Change: w.Change}
	for _, f := range w.Faults {
		s.Faults = append(s.Faults, f.Parameters())
	}
	return s
}

// world is the world that was sent.
func (s *sentWorld) world() (World, error) {
	w := World{Base: s.Base, Change: s.Change}
	for _, p := range s.Faults {
		f, err := p.Fault()
		if err != nil {
			return w, err
		}
		w.Faults = append(w.Faults, f)
	}
	return w, nil
}

// A workReply is what came of a world.
type workReply struct {
	Outcome Outcome `json:"outcome,omitzero"`
	Grounds Grounds `json:"grounds,omitzero"`
	// Trace is what happened in one run, without what files leave out of it. What became of
	// that run is in the outcome, as that without fencing tokens.
	Trace *trace.Trace `json:"trace,omitempty"`
	// Ending is how a run ended of which there is no trace. Its Stacks come beside it, since what
	// is saved of it has none.
	Ending *trace.Ending `json:"ending,omitempty"`
	Stacks string        `json:"stacks,omitempty"`
	// Error says why the world cannot be made.
	Error string `json:"error,omitempty"`
}

// maxLeaks is how many worlds may leave goroutines behind in one process, which
// take memory for as long as it lives.
const maxLeaks = 200

// ServeWorlds makes this process a worker of a [Remote]: it runs the worlds that it
// sends, with the runner that local makes of the bases. These have no Kind and
// no Programs; local sets them where they are needed. ServeWorlds does not return; see [Serve].
func ServeWorlds(in io.Reader, out io.Writer, local func(bases []Base) (Worlds, error)) {
	// Worlds are many and short.
	debug.SetGCPercent(800)
	var worlds Worlds
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
		case o.Account != "":
			var a Account
			a, err = worlds.Account(context.Background(), w, o.Account)
			switch r.Outcome.Off = a.Run; {
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
		if r.Outcome.shows(trace.ConductLeak) {
			leaks++
		}
		// What hangs goes on in its process, and computes perhaps; and goroutines that were left
		// behind fill it.
		return r, leaks == maxLeaks || r.Outcome.shows(trace.ConductHang) || sim.LeftBehind() > 0
	})
}
