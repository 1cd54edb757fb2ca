package etcd_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// runWatcher runs a world in which a client of a single member calls do.
func runWatcher(t *testing.T, do func(context.Context, *clientv3.Client) error) *trace.Trace {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		client, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer client.Close()
		return do(ctx, client)
	}))
	cfg.Nodes, cfg.Horizon = Nodes("etcd", 1), time.Hour
	return RunWorld(t, cfg)
}

// A watcher of future changes is notified immediately. A watcher is notified at the next
// sync if it asks for past changes, or if it watches from the current revision, as the
// mutex does.
func TestAWatcherThatIsBehindWaits(t *testing.T) {
	tr := runWatcher(t, func(ctx context.Context, c *clientv3.Client) error {
		put, err := c.Put(ctx, "x", "1")
		if err != nil {
			return err
		}
		behind := c.Watch(ctx, "x", clientv3.WithRev(put.Header.Revision))
		begun := Now()
		first := <-behind
		Equal(t, "value", string(first.Events[0].Kv.Value), "1")
		checkBetween(t, "it heard", Now()-begun, 2*time.Millisecond, 105*time.Millisecond)

		SleepUntil(time.Second)
		if _, err := c.Put(ctx, "x", "2"); err != nil {
			return err
		}
		second := <-behind
		Equal(t, "value", string(second.Events[0].Kv.Value), "2")
		EqualTime(t, "it heard", Now(), time.Second+2*time.Millisecond)
		return nil
	})
	Equal(t, "notifications", len(Events(tr, trace.KindNotify, "client-1")), 2)
}

func TestAWatcherOfWhatIsForgotten(t *testing.T) {
	runWatcher(t, func(ctx context.Context, c *clientv3.Client) error {
		var last int64
		for i := range 5 {
			put, err := c.Put(ctx, "x", fmt.Sprint(i))
			if err != nil {
				return err
			}
			last = put.Header.Revision
		}
		if _, err := c.Compact(ctx, last-1); err != nil {
			return err
		}
		ended := <-c.Watch(ctx, "x", clientv3.WithRev(last-2))
		Equal(t, "forgotten up to", ended.CompactRevision, last-1)
		Equal(t, "over", ended.Canceled, true)
		rest := <-c.Watch(ctx, "x", clientv3.WithRev(last-1))
		Equal(t, "changes", len(rest.Events), 2)
		return nil
	})
}

func TestProgressOfAWatch(t *testing.T) {
	runWatcher(t, func(ctx context.Context, c *clientv3.Client) error {
		progress := <-c.Watch(ctx, "x", clientv3.WithProgressNotify())
		Equal(t, "progress", progress.IsProgressNotify(), true)
		checkBetween(t, "it heard", Now(), 10*time.Minute, 11*time.Minute+time.Second)
		return nil
	})
}
