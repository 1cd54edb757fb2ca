package sim_test

import (
	"context"
	"reflect"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Nothing of a world is left in the memory that Recycle gives to the next world, and the
// next world has the same events as in memory of its own.
func TestRecycle(t *testing.T) {
	play := func(commands ...string) *trace.Trace {
		cfg := ToyWorld(clientRunning(func(ctx context.Context, p *sim.Program) error {
			for _, c := range commands {
				if err := Toy(p, 0).Do(ctx, c); err != nil {
					return err
				}
			}
			return nil
		}))
		tr, err := sim.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	sim.TakeSpareEvents()
	want := play("set k v").Hash()

	sim.Recycle(play("set a b", "set c d", "set e f"))
	spare := sim.TakeSpareEvents()
	if len(spare) == 0 {
		t.Fatal("Recycle kept no memory")
	}
	for i := range spare {
		if !reflect.ValueOf(spare[i]).IsZero() {
			t.Errorf("the memory that is kept has the event %+v, want none", spare[i])
		}
	}

	sim.Recycle(play("set a b", "set c d", "set e f"))
	tr := play("set k v")
	if len(sim.TakeSpareEvents()) > 0 {
		t.Error("the next world did not use the memory")
	}
	Equal(t, "the hash of the next world", tr.Hash(), want)
}

// The memory of a world that was ended by a client's code is not used again: goroutines of
// that code may still use it.
func TestRecycleAfterAPanic(t *testing.T) {
	sim.TakeSpareEvents()
	tr, err := sim.Run(ToyWorld(clientRunning(func(context.Context, *sim.Program) error { return panicking() })))
	if err == nil || tr == nil || tr.Ending == nil {
		t.Fatalf("the run has the error %v and the trace %v, want a panic and its trace", err, tr)
	}
	events := len(tr.Events)
	sim.Recycle(tr)
	if len(tr.Events) != events || len(sim.TakeSpareEvents()) > 0 {
		t.Error("Recycle took the memory of a world that a panic ended")
	}
}
