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

// A watcher of future changes is notified immediately. A watcher that asks for past changes,
// or that watches from the current revision as the mutex does, waits until the member next
// syncs its watchers, which it does every 100 ms.
func TestAWatcherThatIsBehindWaits(t *testing.T) {
	tr := runWatcher(t, func(ctx context.Context, c *clientv3.Client) error {
		put, err := c.Put(ctx, "x", "1")
		if err != nil {
			return err
		}
		behind := c.Watch(ctx, "x", clientv3.WithRev(put.Header.Revision))
		begun := Now()
		first := <-behind
		Equal(t, "value in the first notification", string(first.Events[0].Kv.Value), "1")
		checkBetween(t, "the watcher of the current revision was notified", Now()-begun, 2*time.Millisecond, 105*time.Millisecond)

		SleepUntil(time.Second)
		if _, err := c.Put(ctx, "x", "2"); err != nil {
			return err
		}
		second := <-behind
		Equal(t, "value in the second notification", string(second.Events[0].Kv.Value), "2")
		EqualTime(t, "the watcher of a future change was notified", Now(), time.Second+2*time.Millisecond)
		return nil
	})
	Equal(t, "number of notifications", len(Events(tr, trace.KindNotify, "client-1")), 2)
}

// A member ends a watch that asks for compacted revisions.
func TestAWatchOfCompactedRevisionsEnds(t *testing.T) {
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
		Equal(t, "revision of the compaction", ended.CompactRevision, last-1)
		Equal(t, "the watch of a compacted revision is cancelled", ended.Canceled, true)
		later := <-c.Watch(ctx, "x", clientv3.WithRev(last-1))
		Equal(t, "number of changes from the revision of the compaction on", len(later.Events), 2)
		return nil
	})
}

// A watch that asks for progress is notified every ten minutes, even if nothing changes.
func TestProgressNotifications(t *testing.T) {
	runWatcher(t, func(ctx context.Context, c *clientv3.Client) error {
		progress := <-c.Watch(ctx, "x", clientv3.WithProgressNotify())
		Equal(t, "the notification is one of progress", progress.IsProgressNotify(), true)
		checkBetween(t, "the watcher was notified of the progress", Now(), 10*time.Minute, 11*time.Minute+time.Second)
		return nil
	})
}
