package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// recordCompactions runs a world in which a client writes ten times, once a minute, from 3m30s
// on. It returns for each compaction its time, its member and its revision. A compaction
// removes the history before its revision.
func recordCompactions(t *testing.T, members int, settings []string, faults ...sim.Fault) string {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c, err := newClient(p.Env(), p.Env().Nodes[members-1])
		if err != nil {
			return err
		}
		defer c.Close()
		for i := range 10 {
			SleepUntil(time.Duration(3+i)*time.Minute + 30*time.Second)
			if _, err := c.Put(ctx, "x", fmt.Sprint(i)); err != nil {
				return err
			}
		}
		SleepUntil(26 * time.Minute)
		_, err = c.Get(ctx, "x", clientv3.WithRev(2))
		Equal(t, "reading revision 2 fails", err != nil, len(settings) > 0)
		return nil
	}))
	cfg.Nodes, cfg.Horizon, cfg.Faults = Nodes("etcd", members), time.Hour, faults
	for i := range cfg.Nodes {
		cfg.Nodes[i].Settings = settings
	}
	var compactions []string
	for _, ev := range RunWorld(t, cfg).Events {
		if ev.Kind == trace.KindCompact {
			compactions = append(compactions, fmt.Sprintf("%v %s %s", ev.At.Round(time.Second), ev.Process, ev.Text))
		}
	}
	return strings.Join(compactions, ", ")
}

// Every five minutes the leader compacts everything that is older than the retained
// revisions. It does not compact if nothing has been written since the last time.
func TestAutoCompaction(t *testing.T) {
	Equal(t, "compactions of one member", recordCompactions(t, 1, []string{"auto-compaction-retention=1"}),
		"5m0s etcd-1 revision 2, 10m0s etcd-1 revision 7, 15m0s etcd-1 revision 10")
	Equal(t, "compactions of three members", recordCompactions(t, 3, []string{"auto-compaction-retention=4"}),
		"10m0s etcd-1 revision 4, 15m0s etcd-1 revision 7")
	Equal(t, "compactions without the setting", recordCompactions(t, 1, nil), "")
	// After a crash the member no longer knows the last compaction, nor when the next one
	// is due.
	Equal(t, "compactions of one member that crashes", recordCompactions(t, 1, []string{"auto-compaction-retention=1"},
		Lasting(time.Minute, At(time.Minute, CrashOf("etcd-1", trace.Kill)))), "7m0s etcd-1 revision 4, 12m0s etcd-1 revision 9, 17m0s etcd-1 revision 10")
}

func TestRetentionHasToBeANumber(t *testing.T) {
	system, _ := sim.LookupSystem("etcd")
	for _, value := range []string{"", "0", "-1", "1h", "all", "99999999999999999999"} {
		if err := system.CheckSetting("auto-compaction-retention=" + value); err == nil {
			t.Errorf("auto-compaction-retention=%s is accepted, want an error", value)
		}
	}
	Equal(t, "error of auto-compaction-retention=1000", system.CheckSetting("auto-compaction-retention=1000"), nil)
}
