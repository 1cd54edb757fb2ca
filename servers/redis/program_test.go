package redis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/trace"
)

// A program that does by hand what a client does anyway leaves the same trace,
// event by event.
func TestProgramIsLikeTheWorkload(t *testing.T) {
	const naps, nap = 3, 4 * time.Second
	byHand := func(sections int, extends bool) func(context.Context, *sim.Program) error {
		return func(ctx context.Context, p *sim.Program) error {
			for range sections {
				in, err := p.Acquire(ctx, p.Lock())
				for ; err != nil; in, err = p.Acquire(ctx, p.Lock()) {
					if err := p.Sleep(time.Second); err != nil {
						return err
					}
				}
				err = in.Read(ctx, "x")
				if err == nil {
					err = p.Step(trace.Work, func() (err error) {
						for i := range naps {
							if i > 0 && extends && err == nil {
								err = in.Extend(ctx)
							}
							if err == nil {
								err = p.Sleep(nap)
							}
						}
						return err
					})
				}
				if err == nil {
					err = in.Write(ctx, "x")
				}
				_ = in.Release(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, kind := range []string{"single", "redlock", "watchdog", "single-token", "none"} {
		extender := kind == "single" || kind == "redlock"
		clients := []sim.Client{
			{Name: "client-1", Sections: 2, Works: naps * nap},
			{Name: "client-2", Works: naps * nap, Starts: Point("client-1 acquired")},
		}
		if extender {
			clients[0].ExtendsEvery = nap
		}
		cfg := on(t, 3, kind, clients...)
		cfg.Network.Max = 3 * Hop
		cfg.Lock.TTL = 10 * time.Second
		cfg.Faults = []sim.Fault{
			{Action: &sim.Pause{Process: "client-1"}, Strikes: trace.Trigger{When: Point("client-1 acquired, 2nd time")}, For: 20 * time.Second},
		}
		want := Play(t, cfg)
		cfg.Clients = []sim.Client{
			{Name: "client-1", Run: byHand(2, extender)},
			{Name: "client-2", Run: byHand(1, false), Starts: clients[1].Starts},
		}
		got := Play(t, cfg)
		if got.Hash() != want.Hash() {
			t.Errorf("%s: by hand it differs: %s", kind, trace.FirstDifference(want, got))
		}
		if n := len(Events(want, trace.KindEnd, "client-1")); n < 8 {
			t.Errorf("%s: client-1 ended only %d steps", kind, n)
		}
	}
}

// One handle tidies up after an attempt that was given up, in the background,
// while the client goes on by the other: that is nobody else's key.
func TestTidyingUpWhileAnotherHandleGoesOn(t *testing.T) {
	cfg := Alone(t, Lock(t, "redlock"), func(ctx context.Context, p *sim.Program) error {
		other, err := p.NewLock()
		if err != nil {
			return err
		}
		if _, err := p.Acquire(ctx, other); err == nil { // so that its connections are open
			return errors.New("a majority of the nodes failed, and yet")
		}
		one, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		// The third node, which failed before, grants it what the first two have
		// refused; that the client does not wait for.
		brief, cancel := context.WithTimeout(ctx, 5*Hop+Hop/2)
		defer cancel()
		if _, err := p.Acquire(brief, other); err == nil {
			t.Error("both handles have the lock")
		}
		if err := errors.Join(one.Extend(ctx), one.Release(ctx), p.Sleep(time.Second)); err != nil {
			return err
		}
		last, err := p.Acquire(ctx, other)
		if err != nil {
			return err
		}
		return errors.Join(last.Write(ctx, "x"), last.Release(ctx))
	})
	cfg.Nodes = []sim.Node{{Name: "redis-1", System: "redis"}, {Name: "redis-2", System: "redis"}, {Name: "redis-3", System: "redis"}}
	cfg.Faults = []sim.Fault{
		{Action: &sim.Fail{Node: "redis-2"}, Until: Point("client-1 failed to acquire")},
		{Action: &sim.Fail{Node: "redis-3"}, Until: Point("client-1 acquired")},
	}
	tr := Play(t, cfg)
	Same(t, "the key on the third node", KeyHistory(tr, "redis-3"), "set 3, delete 3, set 4, delete 4")
	Same(t, "the section that the client was busy with then", Events(tr, trace.KindDelete, "redis-3")[0].By.Section, 2)
	Same(t, "what is violated", Broken(tr), "")
}
