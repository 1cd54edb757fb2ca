package explore

import (
	"context"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/workers"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A workOrder is what a pool tells a worker: first the bases, then one world after
// another.
type workOrder struct {
	Bases []sentBase `json:"bases,omitempty"`
	World *sentWorld `json:"world,omitempty"`
}

// A sentBase is a base without its Kind and its Programs, which cannot leave their
// process.
type sentBase struct {
	Name string `json:"name"`
	Text []byte `json:"text"`
	Seed uint64 `json:"seed"`
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

// A workReply is what came of it.
type workReply struct {
	Outcome Outcome `json:"outcome,omitzero"`
	Grounds Grounds `json:"grounds,omitzero"`
	// Error says why the world, or the runner of the bases, cannot be made.
	Error string `json:"error,omitempty"`
	// Busy is how long the runner took.
	Busy time.Duration `json:"busy,omitempty"`
	// Spent says that no more worlds should be run in this process.
	Spent bool `json:"spent,omitempty"`
}

// maxLeaks is how many worlds may leave goroutines behind in one process, which
// take memory for as long as it lives.
const maxLeaks = 200

// Serve makes this process a worker of a [Pool]: it runs the worlds that the pool
// sends, with the runner that local makes of the pool's bases. These have no Kind and
// no Programs; local sets them where they are needed. Serve does not return; see [workers.Serve].
func Serve(in io.Reader, out io.Writer, local func(bases []Base) (Runner, error)) {
	// Worlds are many and short.
	debug.SetGCPercent(800)
	var runner Runner
	leaks := 0
	workers.Serve(in, out, func(o workOrder, _ func(string)) (any, bool) {
		var r workReply
		var err error
		if o.World == nil {
			bases := make([]Base, len(o.Bases))
			for i, b := range o.Bases {
				bases[i] = Base{Name: b.Name, Text: b.Text, Seed: b.Seed}
			}
			runner, err = local(bases)
		} else {
			began := time.Now()
			var w World
			if w, err = o.World.world(); err == nil {
				r.Outcome, err = runner.Run(context.Background(), w)
			}
			r.Grounds = r.Outcome.Grounds
			r.Busy = time.Since(began)
		}
		if err != nil {
			r.Error = err.Error()
		}
		if r.Outcome.shows(trace.ConductLeak) {
			leaks++
		}
		// What hangs goes on in its process, and computes perhaps; and goroutines that were left
		// behind fill it.
		r.Spent = leaks == maxLeaks || r.Outcome.shows(trace.ConductHang) || sim.LeftBehind() > 0
		return r, r.Spent
	})
}

// shows says whether something broke in either run.
func (o Outcome) shows(what string) bool { return o.Off.shows(what) || o.On.shows(what) }

// shows says whether something broke in the run.
func (r Run) shows(what string) bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.What == what })
}
