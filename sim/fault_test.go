package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A request to the storage that a fault holds back still arrives when the fault ends, even
// if its client gave up and ended long before.
func TestHeldBackRequestArrivesLate(t *testing.T) {
	hasty := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		_, err := p.Storage(WithTrueTimeout(ctx, time.Second), storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "late"})
		if err == nil {
			t.Error("the request was answered within 1s, want a timeout")
		}
		return nil
	})
	for _, f := range []sim.Fault{
		Lasting(time.Minute, At(0, &sim.Hold{HeldMessage("client-1's request to storage")})),
		Lasting(time.Minute, At(0, &sim.Partition{"client-1", []string{trace.StorageName}, sim.To})),
		Lasting(time.Minute, At(0, &sim.Pause{Process: trace.StorageName})),
		Until("1m after client-1 finished", At(0, &sim.Hold{HeldMessage("client-1's request to storage")})),
	} {
		t.Run(f.Text, func(t *testing.T) {
			cfg := WithFaults(ToyWorld(hasty), f)
			if _, partition := f.Action.(*sim.Partition); partition {
				// The partition can hold back a request only if the connection is already
				// open. So the client first reads, before the partition begins.
				cfg.Faults[0].Strikes = trace.Trigger{At: 10 * time.Millisecond}
				cfg.Clients[0] = Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					if _, err := p.Storage(ctx, storage.Request{Op: storage.Read, Object: trace.DefaultObject}); err != nil {
						return err
					}
					SleepUntil(20 * time.Millisecond)
					return hasty.Run(ctx, p)
				})
			}
			tr := RunWorld(t, cfg)
			served := 0
			for _, ev := range tr.Events {
				if ev.Kind == trace.KindServe && ev.Step == trace.Write {
					served++
					if ev.At < time.Minute || ev.At > 2*time.Minute {
						t.Errorf("the write was applied at %v, want between 1m and 2m", ev.At)
					}
				}
			}
			Equal(t, "number of applied writes", served, 1)
		})
	}
}

// If a fault had no effect, the trace says why.
func TestIdleFaults(t *testing.T) {
	short := Client(t, "client-1", func(_ context.Context, p *sim.Program) error {
		SleepUntil(5 * time.Second)
		return nil
	})
	for _, test := range []struct {
		fault sim.Fault
		idle  string // IdleReason of the last fault
	}{
		{At(time.Second, &sim.Pause{Process: "toy-1"}), ""},
		{At(time.Minute, &sim.Pause{Process: "toy-1"}), "it did not begin, because this moment never came: at 1m0s"},
		{When("client-1 wrote", &sim.Pause{Process: "toy-1"}), "it did not begin, because this moment never came: when client-1 wrote"},
		{Until("client-1 wrote", At(time.Second, &sim.Pause{Process: "toy-1"})), "it did not end, because this moment never came: client-1 wrote"},
		{At(0, &sim.Hold{HeldMessage("client-1's request to toy-1")}), "what it waits for never happened"},
		{At(2*time.Second, &sim.Pause{Process: "toy-1"}), "toy-1 was down when it was to be paused"},
	} {
		t.Run(test.fault.Text+" "+test.idle, func(t *testing.T) {
			cfg := ToyWorld(short)
			if strings.Contains(test.idle, "down") {
				cfg = WithFaults(cfg, At(time.Second, CrashOf("toy-1", trace.Kill)))
			}
			tr := RunWorld(t, WithFaults(cfg, test.fault))
			Equal(t, "why the last fault did not act", tr.Faults[len(tr.Faults)-1].IdleReason, test.idle)
		})
	}
}

// A world in which one process has too many drifts is refused.
func TestTooManyDriftsAreRefused(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(context.Context, *sim.Program) error { return nil }))
	for range 5 {
		cfg = WithFaults(cfg, At(0, &sim.Drift{"client-1", -50 * sim.Percent}))
	}
	if _, err := sim.Run(cfg); err == nil || !strings.Contains(err.Error(), "client-1 has more than 4 drifts") {
		t.Errorf("the error is %v, want one that says that client-1 has more than 4 drifts", err)
	}
}

// FaultInfo.Stops names the process that a pause or a crash stops.
func TestProcessThatAFaultStops(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(context.Context, *sim.Program) error { return nil }))
	for _, test := range []struct {
		action sim.Action
		stops  string // the process that the action stops; "" for none
	}{
		{PauseOf("client-1"), "client-1"},
		{CrashOf("toy-1", trace.PowerLoss), "toy-1"},
		{&sim.Jump{"toy-1", time.Second}, ""},
		{&sim.Partition{"client-1", []string{"toy-1"}, ""}, ""},
		{&sim.Fail{Node: "toy-1"}, ""},
	} {
		Equal(t, fmt.Sprintf("the process that %+v stops", test.action), RunWorld(t, WithFaults(cfg, At(0, test.action))).Faults[0].Stops, test.stops)
	}
}

// Drifts of one process multiply. When one of them ends, the others continue.
func TestDriftsMultiply(t *testing.T) {
	var shown []time.Duration // by how much the client's clock advances in each hundred seconds
	cfg := ToyWorld(Client(t, "client-1", func(_ context.Context, p *sim.Program) error {
		last := p.Clock().Now()
		for i := range 3 {
			SleepUntil(time.Duration(i+1) * 100 * time.Second)
			shown = append(shown, p.Clock().Now().Sub(last))
			last = p.Clock().Now()
		}
		return nil
	}))
	RunWorld(t, WithFaults(cfg,
		Lasting(200*time.Second, At(0, &sim.Drift{"client-1", 1 * sim.Percent})),
		At(100*time.Second, &sim.Drift{"client-1", 2 * sim.Percent}),
	))
	for i, want := range []time.Duration{101 * time.Second, 103020 * time.Millisecond, 102 * time.Second} {
		if d := (shown[i] - want).Abs(); d > time.Microsecond {
			t.Errorf("in the hundred seconds number %d the clock of client-1 advanced by %v, want %v", i+1, shown[i], want)
		}
	}
}
