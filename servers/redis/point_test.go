package redis_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// eventfulWorld runs a world in which most kinds of points are reached.
func eventfulWorld(t *testing.T) *trace.Trace {
	// takeAllSteps takes every kind of step once, whether or not the earlier ones succeeded.
	takeAllSteps := func(ctx context.Context, p *sim.Program, name string, token uint64) error {
		r := libraryClient(p)
		defer r.Close()
		for _, step := range trace.Steps() {
			_ = p.Step(step, func() error {
				switch step {
				case trace.Acquire:
					ok, err := r.SetNX(ctx, "lock", name, 5*time.Second).Result()
					if err == nil && !ok {
						err = fmt.Errorf("taken")
					}
					return err
				case trace.Read, trace.Write:
					resp, err := p.Storage(ctx, storage.Request{Op: storage.Op(step), Object: trace.DefaultObject, Value: "v", Token: token})
					if err == nil && resp.Refused != "" {
						err = errors.New(resp.Refused)
					}
					return err
				case trace.Work:
					return p.Clock().Sleep(ctx, time.Second)
				}
				return r.Get(ctx, "lock").Err()
			})
		}
		return nil
	}
	cfg := replicatedWorld(0,
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			if err := takeAllSteps(ctx, p, "client-1", 2); err != nil {
				return err
			}
			SleepUntil(20 * time.Second)
			return takeAllSteps(ctx, p, "client-1", 2)
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(2 * time.Second)
			err := takeAllSteps(ctx, p, "client-2", 1)
			SleepUntil(40 * time.Second)
			return err
		}),
	)
	cfg.Nodes[0].Persistence = server.Everysec
	cfg.Storage.Fencing = storage.Writes
	return RunWorld(t, WithFaults(cfg,
		Lasting(time.Second, At(8*time.Second, PauseOf("client-1"))),
		Lasting(time.Second, At(10*time.Second, CrashOf("redis-1", trace.Kill))),
		At(12*time.Second, &sim.Jump{Process: "client-2", By: time.Second}),
		At(30*time.Second, &sim.Promote{Node: "redis-2"}),
	))
}

// A point is reached at the events that it describes, and at no others.
func TestPointsAreReached(t *testing.T) {
	tr := eventfulWorld(t)
	reached := func(p trace.Point) (found []trace.Event) {
		r := history.Recognise(p, tr)
		for i := range tr.Events {
			if r.See(&tr.Events[i]) {
				found = append(found, tr.Events[i])
			}
		}
		return found
	}
	for _, test := range []struct {
		point string
		kind  trace.Kind // of the events at which the point is reached; "" if there are none or they differ
		times int        // how many events reach the point
	}{
		{"client-1 acquired", trace.KindEnd, 2},
		{"client-1 acquired, 1st time", trace.KindEnd, 1},
		{"client-1 acquired, 2nd time", trace.KindEnd, 1},
		{"client-1 acquired, 3rd time", "", 0},
		{"client-1 failed to acquire", "", 0},
		{"client-2 failed to acquire", trace.KindEnd, 1},
		{"client-2 acquired", "", 0},
		{"client-1 read", trace.KindEnd, 2},
		{"client-1 worked", trace.KindEnd, 2},
		{"client-1 wrote", trace.KindEnd, 2},
		{"client-1 extended", trace.KindEnd, 2},
		{"client-1 released", trace.KindEnd, 2},
		{"client-1 finished", trace.KindDone, 1},
		{"client-1 was refused", "", 0},
		{"client-1 gave up", "", 0},
		{"client-1 holds redis-1", trace.KindSet, 2},
		{"client-1 holds redis-2", "", 0}, // the key is copied to redis-2, not set there by a command of client-1
		// The copies on the replica count too: all keys have expired only with the last
		// copy.
		{"client-1's keys expired", trace.KindExpire, 2},
		{"client-1's key expired on redis-1", trace.KindExpire, 2},
		{"client-1's key expired on redis-2", trace.KindExpire, 2},
		{"client-2's keys expired", "", 0},
		{"storage applied client-1's write", trace.KindServe, 2},
		{"storage refused client-1's write", "", 0},
		{"storage refused client-2's write", trace.KindServe, 1},
		{"storage applied client-2's write", "", 0},
		{"storage applied client-2's read", trace.KindServe, 1},
		{"client-1 paused", trace.KindPause, 1},
		{"client-1 resumed", trace.KindResume, 1},
		{"redis-1 crashed", trace.KindCrash, 1},
		{"redis-1 restarted", trace.KindRestart, 1},
		{"redis-2 was promoted", trace.KindPromote, 1},
		{"client-2's clock jumped", trace.KindClock, 1},
		{"redis-1's clock jumped", "", 0},
		{"client-1's acquire request to redis-1 is in flight", trace.KindSend, 2},
		{"client-1's acquire request to redis-1 arrived", trace.KindDeliver, 2},
		{"redis-1's reply to client-1's acquire is in flight", trace.KindSend, 2},
		{"redis-1's reply to client-1's acquire arrived", trace.KindDeliver, 2},
		{"client-2's write request to storage arrived", trace.KindDeliver, 1},
		{"client-1's request to client-2 arrived", "", 0},
		{"client-1 paused or client-1 resumed", "", 2},
	} {
		found := reached(Point(test.point))
		Equal(t, "how many events reach: "+test.point, len(found), test.times)
		for _, ev := range found {
			if test.kind != "" {
				Equal(t, "the kind of an event that reaches: "+test.point, ev.Kind, test.kind)
			}
		}
	}
	syncs := reached(Point("redis-1 synced"))
	Equal(t, "how many events reach: redis-1 synced", len(syncs), len(Events(tr, trace.KindSync, "redis-1")))
	if len(syncs) == 0 {
		t.Error("redis-1 never synced")
	}
}
