package redis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// An attempt of one handle is abandoned, and the handle removes its keys in the background.
// Meanwhile the same client acquires the lock with another handle. The trace must not say
// that a key of another client was removed.
func TestAbandonedAcquireWhileAnotherHandleHoldsTheLock(t *testing.T) {
	cfg := SoloWorld(t, Lock(t, "redlock"), func(ctx context.Context, p *sim.Program) error {
		other, err := p.NewLock()
		if err != nil {
			return err
		}
		if _, err := p.Acquire(ctx, other); err == nil { // only so that its connections are open
			return errors.New("the lock was acquired although a majority of the nodes failed")
		}
		one, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		// The first two nodes have refused. The third node has failed before and now grants
		// the key, but the client does not wait for its answer.
		brief, cancel := context.WithTimeout(ctx, 5*Hop+Hop/2)
		defer cancel()
		if _, err := p.Acquire(brief, other); err == nil {
			t.Error("the second handle acquired the lock while the first held it")
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
	tr := RunWorld(t, cfg)
	Equal(t, "the key on the third node", KeyHistory(tr, "redis-3"), "set 3, delete 3, set 4, delete 4")
	Equal(t, "the section of the first deletion on redis-3", Events(tr, trace.KindDelete, "redis-3")[0].By.Section, 2)
	Equal(t, "the violated properties", Violations(tr), "")
}
