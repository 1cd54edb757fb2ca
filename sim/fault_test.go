package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A request to the storage that a fault keeps back still lands when the fault
// ends, though its client has given up and is done long before.
func TestLateRequestLands(t *testing.T) {
	hasty := client(t, "client-1", func(ctx context.Context, p *Program) error {
		_, err := p.Storage(within(ctx, time.Second), storage.Request{Op: storage.Write, Object: trace.Object, Value: "late"})
		if err == nil {
			t.Error("the request was answered")
		}
		return nil
	})
	for _, f := range []Fault{
		lasting(time.Minute, at(0, &Hold{held("client-1's request to storage")})),
		lasting(time.Minute, at(0, &Partition{"client-1", []string{trace.StorageName}, To})),
		lasting(time.Minute, at(0, &Pause{Process: trace.StorageName})),
		until("1m after client-1 finished", at(0, &Hold{held("client-1's request to storage")})),
	} {
		t.Run(f.Text, func(t *testing.T) {
			cfg := with(story(hasty), f)
			if _, partition := f.Action.(*Partition); partition {
				// Without a connection there is nothing to keep back.
				cfg.Faults[0].Strikes = trace.Trigger{At: 10 * time.Millisecond}
				cfg.Clients[0] = client(t, "client-1", func(ctx context.Context, p *Program) error {
					if _, err := p.Storage(ctx, storage.Request{Op: storage.Read, Object: trace.Object}); err != nil {
						return err
					}
					sleepUntil(p, 20*time.Millisecond)
					return hasty.Run(ctx, p)
				})
			}
			tr := play(t, cfg)
			served := 0
			for _, ev := range tr.Events {
				if ev.Kind == trace.KindServe && ev.Step == trace.Write {
					served++
					if ev.At < time.Minute || ev.At > 2*time.Minute {
						t.Errorf("the write landed at %v", ev.At)
					}
				}
			}
			same(t, "writes that landed", served, 1)
		})
	}
}

// A fault that did not do what the story says says so.
func TestIdleFaults(t *testing.T) {
	short := client(t, "client-1", func(_ context.Context, p *Program) error {
		sleepUntil(p, 5*time.Second)
		return nil
	})
	for _, test := range []struct {
		fault Fault
		idle  string // of the last fault
	}{
		{at(time.Second, &Pause{Process: "redis-1"}), ""},
		{at(time.Minute, &Pause{Process: "redis-1"}), "its moment never came: at 1m0s"},
		{when("client-1 wrote", &Pause{Process: "redis-1"}), "its moment never came: when client-1 wrote"},
		{until("client-1 wrote", at(time.Second, &Pause{Process: "redis-1"})), "its end never came: client-1 wrote"},
		{at(0, &Hold{held("client-1's request to redis-1")}), "what it waits for never happened"},
		{at(2*time.Second, &Pause{Process: "redis-1"}), "redis-1 was down when it was to be paused"},
	} {
		t.Run(test.fault.Text+" "+test.idle, func(t *testing.T) {
			cfg := story(short)
			if strings.Contains(test.idle, "down") {
				cfg = with(cfg, at(time.Second, crashed("redis-1", trace.Kill)))
			}
			tr := play(t, with(cfg, test.fault))
			same(t, "idle", tr.Faults[len(tr.Faults)-1].Idle, test.idle)
		})
	}
}

// The trace says which process a fault stops.
func TestWhomAFaultStops(t *testing.T) {
	cfg := story(client(t, "client-1", func(context.Context, *Program) error { return nil }))
	for _, test := range []struct {
		action Action
		stops  string
	}{
		{stopped("client-1"), "client-1"},
		{crashed("redis-1", trace.PowerLoss), "redis-1"},
		{&Jump{"redis-1", time.Second}, ""},
		{&Partition{"client-1", []string{"redis-1"}, ""}, ""},
		{&Fail{Node: "redis-1"}, ""},
	} {
		same(t, fmt.Sprintf("%+v", test.action), play(t, with(cfg, at(0, test.action))).Faults[0].Stops, test.stops)
	}
}

// Drifts of one process add up, and each takes only its own share away.
func TestDriftsAddUp(t *testing.T) {
	var shown []time.Duration
	cfg := story(client(t, "client-1", func(_ context.Context, p *Program) error {
		last := p.Clock().Now()
		for i := range 3 {
			sleepUntil(p, time.Duration(i+1)*100*time.Second)
			shown = append(shown, p.Clock().Now().Sub(last))
			last = p.Clock().Now()
		}
		return nil
	}))
	play(t, with(cfg,
		lasting(200*time.Second, at(0, &Drift{"client-1", 1 * Percent})),
		at(100*time.Second, &Drift{"client-1", 2 * Percent}),
	))
	for i, want := range []time.Duration{101 * time.Second, 103 * time.Second, 102 * time.Second} {
		if d := (shown[i] - want).Abs(); d > time.Microsecond {
			t.Errorf("in its hundred seconds number %d the clock counts %v, want %v", i+1, shown[i], want)
		}
	}
}
