package redis_test

import (
	"context"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A key that is set for ten seconds lives that long by the wall clock of its node.
func TestNodeClockDecidesHowLongAKeyLives(t *testing.T) {
	cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		if err := locks.RedisClient(p.Env(), 0).Set(ctx, "k", "v", 10*time.Second).Err(); err != nil {
			return err
		}
		return p.Clock().Sleep(ctx, 30*time.Second)
	}))
	for _, test := range []struct {
		name    string
		faults  []sim.Fault
		expires time.Duration // when the key expires
	}{
		{"no fault", nil, arrival + 10*time.Second},
		{"the clock is set back by 4s", []sim.Fault{At(3*time.Second, &sim.Jump{Process: "redis-1", By: -4 * time.Second})}, arrival + 14*time.Second},
		{"the clock is set forward by 4s", []sim.Fault{At(3*time.Second, &sim.Jump{Process: "redis-1", By: 4 * time.Second})}, arrival + 6*time.Second},
		{"the clock is set forward beyond the key's end", []sim.Fault{At(3*time.Second, &sim.Jump{Process: "redis-1", By: 31 * time.Second})}, 3 * time.Second},
		{"the clock is set forward and back", []sim.Fault{
			At(2*time.Second, &sim.Jump{Process: "redis-1", By: 5 * time.Second}),
			At(3*time.Second, &sim.Jump{Process: "redis-1", By: -5 * time.Second}),
		}, arrival + 10*time.Second},
		{"the clock is set forward by 9s just after the key is set", []sim.Fault{When("client-1 holds redis-1", &sim.Jump{Process: "redis-1", By: 9 * time.Second})}, arrival + time.Second},
		{"the clock of a client is set forward", []sim.Fault{At(3*time.Second, &sim.Jump{Process: "client-1", By: time.Hour})}, arrival + 10*time.Second},
		// 10 s / 1.02, 10 s / 0.9995 and 10 s / (1.1 × 1.15), rounded up.
		{"the clock runs fast by 2%", []sim.Fault{At(0, &sim.Drift{Process: "redis-1", Rate: 2 * sim.Percent})}, arrival + 9_803_921_569},
		{"the clock runs slow by 500ppm", []sim.Fault{At(0, &sim.Drift{Process: "redis-1", Rate: -500 * sim.PPM})}, arrival + 10_005_002_502},
		{"the clock runs fast by 10% and by 15% in addition", []sim.Fault{At(0, &sim.Drift{Process: "redis-1", Rate: 10 * sim.Percent}), At(0, &sim.Drift{Process: "redis-1", Rate: 15 * sim.Percent})}, arrival + 7_905_138_340},
		// 3 s at +50% are 4.5 s, which leaves 5.5 s at the right rate.
		{"the clock runs fast by 50% for three seconds", []sim.Fault{Lasting(3*time.Second, When("client-1 holds redis-1", &sim.Drift{Process: "redis-1", Rate: 50 * sim.Percent}))}, arrival + 8500*time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(cfg, test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the key was set", OnlyEvent(t, tr, trace.KindSet, "redis-1").At, arrival)
			EqualTime(t, "the key expired", OnlyEvent(t, tr, trace.KindExpire, "redis-1").At, test.expires)
		})
	}
}

// A client sees a node's clock in three ways: the TTL that a key has left, the command
// TIME, and an expiry that is given as a time of day.
func TestClientSeesTheNodeClock(t *testing.T) {
	type sight struct {
		left   time.Duration // the answer to PTTL, plus the true time since the key was set
		ahead  time.Duration // how far TIME is ahead of the true time of day when the command was served
		exists int64         // 1 if a key exists that was set to end ten seconds later by the client's time of day
	}
	for _, test := range []struct {
		name string
		by   time.Duration // the jump of the node's clock
		want sight
	}{
		{"no jump", 0, sight{60 * time.Second, 0, 1}},
		{"the node's clock is set forward", 31 * time.Second, sight{29 * time.Second, 31 * time.Second, 0}},
		{"the node's clock is set back", -31 * time.Second, sight{91 * time.Second, -31 * time.Second, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got sight
			cfg := redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				r := locks.RedisClient(p.Env(), 0)
				if err := r.Set(ctx, "k", "v", 60*time.Second).Err(); err != nil {
					return err
				}
				SleepUntil(2 * time.Second)
				left, err := r.PTTL(ctx, "k").Result()
				if err != nil {
					return err
				}
				// PTTL was served one hop before its answer arrived, and SET at the time
				// arrival.
				got.left = (left + Now() - Hop - arrival).Round(10 * time.Millisecond)
				nodeTime, err := r.Time(ctx).Result()
				if err != nil {
					return err
				}
				got.ahead = nodeTime.Sub(time.Now().Add(-Hop)).Round(time.Millisecond)
				if err := r.Do(ctx, "SET", "until", "v", "PXAT", time.Now().Add(10*time.Second).UnixMilli()).Err(); err != nil {
					return err
				}
				got.exists, err = r.Exists(ctx, "until").Result()
				return err
			}))
			if test.by != 0 {
				cfg = WithFaults(cfg, At(time.Second, &sim.Jump{Process: "redis-1", By: test.by}))
			}
			RunWorld(t, cfg)
			Equal(t, "what the client sees of the node's clock", got, test.want)
		})
	}
}
