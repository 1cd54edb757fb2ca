package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// eventful is a world in which every point but a few is reached.
func eventful(t *testing.T) *trace.Trace {
	use := func(ctx context.Context, p *Program, token uint64) error {
		r := libraryClient(p)
		defer r.Close()
		for _, step := range trace.Steps() {
			_ = p.Step(step, func() error {
				switch step {
				case trace.Acquire:
					ok, err := r.SetNX(ctx, "lock", p.g.p.name, 5*time.Second).Result()
					if err == nil && !ok {
						err = fmt.Errorf("taken")
					}
					return err
				case trace.Read, trace.Write:
					resp, err := p.Storage(ctx, storage.Request{Op: storage.Op(step), Object: trace.Object, Value: "v", Token: token})
					if err == nil && resp.Refused != "" {
						err = errRefusedByStorage
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
	cfg := replicated(0,
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			if err := use(ctx, p, 2); err != nil {
				return err
			}
			sleepUntil(p, 20*time.Second)
			return use(ctx, p, 2)
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, 2*time.Second)
			err := use(ctx, p, 1)
			sleepUntil(p, 40*time.Second)
			return err
		}),
	)
	cfg.Nodes[0].Persistence = Everysec
	cfg.Storage.Fencing = storage.Writes
	return play(t, with(cfg,
		lasting(time.Second, at(8*time.Second, stopped("client-1"))),
		lasting(time.Second, at(10*time.Second, crashed("redis-1", trace.Kill))),
		at(12*time.Second, &Jump{"client-2", time.Second}),
		at(30*time.Second, &Promote{"redis-2"}),
	))
}

// When a point is reached: at the events that it speaks of, and at no other.
func TestPointsAreReached(t *testing.T) {
	tr := eventful(t)
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
		kind  trace.Kind // of each event
		times int
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
		{"client-1 holds redis-2", "", 0}, // it is copied there, which is no command of client-1
		// The replica's copies count too: only with the last one have they all.
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
		found := reached(point1(test.point))
		same(t, test.point, len(found), test.times)
		for _, ev := range found {
			if test.kind != "" {
				same(t, test.point, ev.Kind, test.kind)
			}
		}
	}
	syncs := reached(point1("redis-1 synced"))
	same(t, "redis-1 synced", len(syncs), len(events(tr, trace.KindSync, "redis-1")))
	if len(syncs) == 0 {
		t.Error("redis-1 never synced")
	}
}

// The point of a fault is reached as the run goes on; a delay counts from there.
func TestPointsStrikeInTime(t *testing.T) {
	cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		r := p.Redis(0)
		for range 3 {
			if err := p.Step(trace.Acquire, func() error { return r.Set(ctx, "k", now(p).String(), time.Second).Err() }); err != nil {
				return err
			}
			sleepUntil(p, now(p).Truncate(10*time.Second)+10*time.Second)
		}
		return nil
	}))
	for _, test := range []struct {
		point string
		at    time.Duration
	}{
		{"client-1 acquired", 6 * hop},
		{"client-1 acquired, 3rd time", 20*time.Second + 2*hop},
		{"5s after client-1 acquired", 5*time.Second + 6*hop},
		{"5s after client-1 acquired, 2nd time", 15*time.Second + 2*hop},
		{"client-1's keys expired", time.Second + 5*hop},
		{"client-1's keys expired, 2nd time", 11*time.Second + hop},
		{"client-1's request to redis-1 is in flight", 4 * hop},
		{"client-1's acquire request to redis-1 arrived, 2nd time", 10*time.Second + hop},
		{"redis-1's reply to client-1 is in flight", 5 * hop},
		{"client-1 failed to acquire or client-1's keys expired", time.Second + 5*hop},
		{"client-1 finished or client-1 acquired, 2nd time", 10*time.Second + 2*hop},
	} {
		tr := play(t, with(cfg, when(test.point, &Jump{"redis-1", time.Nanosecond})))
		struck(t, tr)
		about(t, test.point, first(t, tr, trace.KindStrike, "").At, test.at)
	}
	tr := play(t, with(cfg, when("client-1 extended", stopped("redis-1"))))
	if idle := tr.Faults[0].Idle; !strings.Contains(idle, "when client-1 extended") {
		t.Errorf("a fault whose moment never came is idle because %q", idle)
	}
}
