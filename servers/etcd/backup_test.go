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

// runRestore runs a world in which a client puts the key a at 30 s and replaces it by the key
// b at 75 s. The faults strike between 90 s and two minutes. It returns the kinds of the
// events that the faults cause, and then the member's state after two minutes: the keys and
// their revisions, the lease, the next revision, and whether the member still knows revision
// 2.
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
func TestMemberIsRestoredFromItsBackup(t *testing.T) {
	powerLoss := Lasting(time.Second, At(90*time.Second, CrashOf("etcd-1", trace.PowerLoss)))
	kill := Lasting(time.Second, At(100*time.Second, CrashOf("etcd-1", trace.Kill)))
	everyMinute := []string{"backup-every=1m"}
	Equal(t, "a power loss without backups: the disk survives", runRestore(t, nil, powerLoss), "b in 4, 572 of 600 s left for 1 key, next 5, past known true")
	Equal(t, "a kill with backups: the disk survives", runRestore(t, everyMinute, kill), "b in 4, 582 of 600 s left for 1 key, next 5, past known true")
	Equal(t, "a power loss with backups: the disk is lost, and the backup is restored", runRestore(t, everyMinute, powerLoss), "forget; restore; a in 2, 572 of 600 s left for 1 key, next 3, past known true")
	Equal(t, "a power loss with backups, and then a kill: the restored state survives", runRestore(t, everyMinute, powerLoss, kill), "forget; restore; a in 2, 582 of 600 s left for 1 key, next 3, past known true")
	Equal(t, "a power loss with backups and bump-revision: the restore skips revisions", runRestore(t, append(everyMinute, "bump-revision=1000"), powerLoss), "forget; restore; a in 2, 572 of 600 s left for 1 key, next 1003, past known false")
	Equal(t, "a power loss before the first backup: the member starts empty", runRestore(t, []string{"backup-every=2m"}, powerLoss), "forget; -1 of 0 s left for 0 key, next 2, past known true")
}

func TestBackupSettings(t *testing.T) {
	system, _ := sim.LookupSystem("etcd")
	for setting, accepted := range map[string]bool{
		"backup-every=1m": true, "backup-every=0s": false, "backup-every=-1s": false, "backup-every=60": false, "backup-every=": false,
		"bump-revision=1": true, "bump-revision=0": false, "bump-revision=1e6": false, "bump-revision=9223372036854775807": false,
	} {
		Equal(t, setting+" is accepted", system.CheckSetting(setting) == nil, accepted)
	}
}

// If one of several members has to be restored, the run has a doubt: a real cluster would
// have to be restored as a whole.
func TestRestoreOfOneOfSeveralMembersCausesADoubt(t *testing.T) {
	cfg := gcPause(3, "")
	cfg.Faults = []sim.Fault{Lasting(time.Second, At(time.Second, CrashOf("etcd-2", trace.PowerLoss)))}
	cfg.Clients[0].Works = 5 * time.Second
	for i := range cfg.Nodes {
		cfg.Nodes[i].Settings = []string{"backup-every=1m"}
	}
	Equal(t, "doubts", strings.Join(RunWorld(t, cfg).Doubts, "; "), "one of several members is restored from a backup, and how the other members react is not simulated")
}
