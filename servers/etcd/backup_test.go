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

// runRestore runs a world in which a client puts a key at 30 s and replaces it by another
// key at 75 s. The faults strike between 90 s and two minutes. It returns what was recorded
// of the lock, and the member's state at the end.
func runRestore(t *testing.T, settings []string, faults ...sim.Fault) string {
	t.Helper()
	var found string
	cfg := SoloWorld(t, mutex, func(ctx context.Context, p *sim.Program) error {
		c, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer c.Close()
		SleepUntil(30 * time.Second)
		lease, err := c.Grant(ctx, 600)
		if err != nil {
			return err
		}
		if _, err = c.Put(ctx, "resource/a", "1", clientv3.WithLease(lease.ID)); err != nil {
			return err
		}
		SleepUntil(75 * time.Second)
		if _, err = c.Delete(ctx, "resource/a"); err != nil {
			return err
		}
		if _, err = c.Put(ctx, "resource/b", "2", clientv3.WithLease(lease.ID)); err != nil {
			return err
		}
		SleepUntil(2 * time.Minute)
		all, err := c.Get(ctx, "resource/", clientv3.WithPrefix())
		if err != nil {
			return err
		}
		left, err := c.TimeToLive(ctx, lease.ID, clientv3.WithAttachedKeys())
		if err != nil {
			return err
		}
		for _, kv := range all.Kvs {
			found += fmt.Sprintf("%s in %d, ", strings.TrimPrefix(string(kv.Key), "resource/"), kv.ModRevision)
		}
		put, err := c.Put(ctx, "x", "")
		if err != nil {
			return err
		}
		_, err = c.Get(ctx, "x", clientv3.WithRev(2))
		found += fmt.Sprintf("%d of %d s left for %d key, next %d, past known %v", left.TTL, left.GrantedTTL, len(left.Keys), put.Header.Revision, err == nil)
		return nil
	})
	cfg.Nodes, cfg.Faults, cfg.Horizon = Nodes("etcd", 1), faults, 5*time.Minute
	cfg.Nodes[0].Settings = settings
	tr := RunWorld(t, cfg)
	var recorded []string
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindForget && ev.Key == "resource" || ev.Kind == trace.KindRestore {
			recorded = append(recorded, string(ev.Kind))
		}
	}
	return strings.Join(append(recorded, found), "; ")
}

// A member that has lost its disk has the state of its last backup. It has this state also
// after a later kill. Its leases start anew, and its revisions continue from the revision
// of the backup.
func TestIsRestoredFromItsBackup(t *testing.T) {
	lost := Lasting(time.Second, At(90*time.Second, CrashOf("etcd-1", trace.PowerLoss)))
	killed := Lasting(time.Second, At(100*time.Second, CrashOf("etcd-1", trace.Kill)))
	each := []string{"backup-every=1m"}
	Equal(t, "by default its disk survives", runRestore(t, nil, lost), "b in 4, 572 of 600 s left for 1 key, next 5, past known true")
	Equal(t, "who is only killed has its disk", runRestore(t, each, killed), "b in 4, 582 of 600 s left for 1 key, next 5, past known true")
	Equal(t, "who loses its disk has the backup", runRestore(t, each, lost), "forget; restore; a in 2, 572 of 600 s left for 1 key, next 3, past known true")
	Equal(t, "and still has it when it is killed", runRestore(t, each, lost, killed), "forget; restore; a in 2, 582 of 600 s left for 1 key, next 3, past known true")
	Equal(t, "revisions can be left out", runRestore(t, append(each, "bump-revision=1000"), lost), "forget; restore; a in 2, 572 of 600 s left for 1 key, next 1003, past known false")
	Equal(t, "before there is a backup it is as new", runRestore(t, []string{"backup-every=2m"}, lost), "forget; -1 of 0 s left for 0 key, next 2, past known true")
}

func TestBackupSettings(t *testing.T) {
	system, _ := sim.LookupSystem("etcd")
	for setting, good := range map[string]bool{
		"backup-every=1m": true, "backup-every=0s": false, "backup-every=-1s": false, "backup-every=60": false, "backup-every=": false,
		"bump-revision=1": true, "bump-revision=0": false, "bump-revision=1e6": false, "bump-revision=9223372036854775807": false,
	} {
		Equal(t, setting, system.CheckSetting(setting) == nil, good)
	}
}

// One of several members is not restored: such a cluster would have to be restored as a
// whole.
func TestOneOfSeveralIsNotRestored(t *testing.T) {
	cfg := gcPause(3, "")
	cfg.Faults = []sim.Fault{Lasting(time.Second, At(time.Second, CrashOf("etcd-2", trace.PowerLoss)))}
	cfg.Clients[0].Works = 5 * time.Second
	for i := range cfg.Nodes {
		cfg.Nodes[i].Settings = []string{"backup-every=1m"}
	}
	Equal(t, "doubts", strings.Join(RunWorld(t, cfg).Doubts, "; "), "one of several members is restored from a backup, and how the other members react is not simulated")
}
