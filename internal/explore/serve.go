package explore

import (
	"context"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/workers"
	"github.com/locksim/locksim/trace"
)

// A workOrder is what a pool tells a worker: first the bases, then one world after
// another.
type workOrder struct {
	Bases []sentBase `json:"bases,omitempty"`
	World *World     `json:"world,omitempty"`
}

// A sentBase is a base without its Kind and its Programs, which cannot leave their
// process.
type sentBase struct {
	Name string `json:"name"`
	Text []byte `json:"text"`
	Seed uint64 `json:"seed"`
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
	workers.Serve(in, out, func(o workOrder, _ func(string)) any {
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
			r.Outcome, err = runner.Run(context.Background(), *o.World)
			r.Grounds = r.Outcome.Grounds
			r.Busy = time.Since(began)
		}
		if err != nil {
			r.Error = err.Error()
		}
		if r.Outcome.shows(trace.ConductLeak) {
			leaks++
		}
		// What hangs goes on in its process, and computes perhaps.
		r.Spent = leaks == maxLeaks || r.Outcome.shows(trace.ConductHang)
		return r
	})
}

// shows says whether something broke in either run.
func (o Outcome) shows(what string) bool { return o.Off.shows(what) || o.On.shows(what) }

// shows says whether something broke in the run.
func (r Run) shows(what string) bool {
	return slices.ContainsFunc(r.Breaks, func(b Break) bool { return b.What == what })
}
