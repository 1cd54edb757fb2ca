package sim_test

import (
	"context"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A trace says how many writes each client makes in a section. So a reader of the trace
// knows whether a client that has crashed had made all its writes.
func TestPlannedWrites(t *testing.T) {
	write := trace.Task{Step: trace.Write, Object: trace.DefaultObject}
	clients := []sim.Client{
		{Name: "by-default"},
		{Name: "twice", Does: []trace.Task{write, {Step: trace.Work}, write}},
		{Name: "never", Does: []trace.Task{{Step: trace.Work}}},
		{Name: "unknown", Run: func(context.Context, *sim.Program) error { return nil }},
	}
	tr := RunWorld(t, SectionsWorld(ToyLock, clients...))
	for i, want := range []int{1, 2, 0, 0} {
		Equal(t, "planned writes of the client "+clients[i].Name, tr.Processes[i].Writes, want)
	}
}
