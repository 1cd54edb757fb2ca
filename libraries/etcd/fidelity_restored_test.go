package etcd_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// restored are scripts for a server that is restored from a backup. Each script makes one
// backup and restores it once.
var restored = []struct {
	fidelity
	bump int64 // how many revisions the restore skips, as with --bump-revision and --mark-compacted
}{
	{fidelity: fidelity{name: "changes after the backup are lost, and their revisions are used again", script: `
		put a 1             => rev 2
		put b 1             => rev 3
		save                =>
		put a 2             => rev 4
		del b               => rev 5, deleted 1
		put c 1             => rev 6
		restore             =>
		get '' prefix       => rev 3, count 2, a=1 (c2 m2 v1), b=1 (c3 m3 v1)
		get a rev=2         => rev 3, count 1, a=1 (c2 m2 v1)
		get a rev=4         => OutOfRange: etcdserver: mvcc: required revision is a future revision
		put d 1             => rev 4
		txn create(d)=4 ? get d : => rev 4, true, [rev 4, count 1, d=1 (c4 m4 v1)]
		status              => rev 4, leader true, learner false, errors []
		members             => 1`}},

	{fidelity: fidelity{name: "a lease in the backup lives, and its whole TTL begins again", script: `
		grant L1 600        => ttl 600, rev 1
		put a 1 lease=L1    => rev 2
		pass 3s             =>
		save                =>
		put a 2             => rev 3
		put b 1 lease=L1    => rev 4
		grant L2 600        => ttl 600, rev 4
		put c 1 lease=L2    => rev 5
		restore             =>
		ttl L1 keys whole   => the whole ttl of 600, rev 2, a
		ttl L2 keys         => ttl -1 of 0, rev 2
		keep-alive L1       => ttl 600, rev 2
		keep-alive L2       => NotFound: etcdserver: requested lease not found
		put d 1 lease=L2    => NotFound: etcdserver: requested lease not found
		get '' prefix       => rev 2, count 1, a=1 (c2 m2 v1 L1)
		revoke L1           => rev 3
		get '' prefix       => rev 3, count 0`}},

	{fidelity: fidelity{name: "a lease that was revoked after the backup lives again", script: `
		grant L1 600        => ttl 600, rev 1
		put a 1 lease=L1    => rev 2
		save                =>
		revoke L1           => rev 3
		restore             =>
		get a               => rev 2, count 1, a=1 (c2 m2 v1 L1)
		ttl L1 keys whole   => the whole ttl of 600, rev 2, a`}},

	{fidelity: fidelity{name: "revisions that were compacted before the backup stay compacted", script: `
		put a 1             => rev 2
		put a 2             => rev 3
		put a 3             => rev 4
		compact 3           => rev 4
		save                =>
		put a 4             => rev 5
		compact 5           => rev 5
		restore             =>
		get a rev=2         => OutOfRange: etcdserver: mvcc: required revision has been compacted
		get a rev=3         => rev 4, count 1, a=2 (c2 m3 v2)
		put a 4             => rev 5
		get a rev=4         => rev 5, count 1, a=3 (c2 m4 v3)`}},

	{fidelity: fidelity{name: "a watch from before the restore misses the revisions that are used again", script: `
		put a 1             => rev 2
		save                =>
		watch W a           =>
		put a 2             => rev 3
		put a 3             => rev 4
		next W              => rev 3, PUT a=2 (c2 m3 v2)
		next W              => rev 4, PUT a=3 (c2 m4 v3)
		restore             =>
		pass 1s             =>
		put a 4             => rev 3
		put a 5             => rev 4
		next W              => nothing
		put a 6             => rev 5
		next W              => rev 5, PUT a=6 (c2 m5 v4)`}},

	{fidelity: fidelity{name: "a lock that was acquired after the backup is free, and its token is used again", script: `
		session L1 60       =>
		session L2 60       =>
		save                =>
		lock L1 res         => res/L1 made in 2, got in 2
		restore             =>
		owner L1            => false
		lock L2 res         => res/L2 made in 2, got in 2
		owner L2            => true`}},

	{bump: 1000, fidelity: fidelity{name: "the restore skips revisions", script: `
		put a 1             => rev 2
		put b 1             => rev 3
		save                =>
		put a 2             => rev 4
		restore             =>
		get '' prefix       => rev 1003, count 2, a=1 (c2 m2 v1), b=1 (c3 m3 v1)
		get a rev=2         => OutOfRange: etcdserver: mvcc: required revision has been compacted
		get a rev=1002      => OutOfRange: etcdserver: mvcc: required revision has been compacted
		get a rev=1003      => rev 1003, count 1, a=1 (c2 m2 v1)
		put a 2             => rev 1004
		get a               => rev 1004, count 1, a=2 (c2 m1004 v2)`}},

	{bump: 1000, fidelity: fidelity{name: "the restore skips revisions, and a watch from before it is cancelled", script: `
		put a 1             => rev 2
		save                =>
		watch W a           =>
		put a 2             => rev 3
		next W              => rev 3, PUT a=2 (c2 m3 v2)
		restore             =>
		pass 1s             =>
		next W              => rev 0, cancelled, compacted at 1002, OutOfRange: etcdserver: mvcc: required revision has been compacted`}},

	{bump: 1000, fidelity: fidelity{name: "the restore skips revisions, and leases live", script: `
		session L1 60       =>
		session L2 60       =>
		lock L1 res         => res/L1 made in 2, got in 2
		save                =>
		unlock L1           =>
		lock L2 res         => res/L2 made in 4, got in 4
		restore             =>
		trylock L2 res      => mutex: Locked by another session
		lock L1 res         => res/L1 made in 2, got in 1004`}},
}

// This runs the scripts on a simulated server. Its backup is made after one minute, and it
// loses its power after two.
func TestRestoredFidelityOfOurServer(t *testing.T) {
	for _, f := range restored {
		t.Run(f.name, func(t *testing.T) {
			cfg := oneServer(func(_ context.Context, p *sim.Program) error {
				client, err := etcd.Client(p.Env())
				if err != nil {
					return err
				}
				until := func(at time.Duration) func() error {
					return func() error {
						SleepUntil(at)
						return nil
					}
				}
				f.run(t, &scriptRunner{client: client, pass: time.Sleep, save: until(61 * time.Second), restore: until(2*time.Minute + time.Second)}, ours)
				return nil
			})
			cfg.Horizon = time.Hour
			cfg.Nodes[0].Settings = []string{"backup-every=1m"}
			if f.bump > 0 {
				cfg.Nodes[0].Settings = append(cfg.Nodes[0].Settings, fmt.Sprint("bump-revision=", f.bump))
			}
			cfg.Faults = []sim.Fault{Lasting(time.Second, At(2*time.Minute-time.Second, CrashOf("etcd-1", trace.PowerLoss)))}
			RunWorld(t, cfg)
		})
	}
}

// This runs the scripts on a real server, of which the client makes a backup. The backup is
// restored by etcdctl, as for etcd 3.4, or by the etcdutl that LOCKSIM_ETCDUTL names.
func TestRestoredFidelityOfRealEtcd(t *testing.T) {
	as := realDialect(t)
	program := cmp.Or(os.Getenv("LOCKSIM_ETCDUTL"), "etcdctl")
	if _, err := exec.LookPath(program); err != nil {
		skip(t, "the program that restores etcd is missing (%v); on Debian and Ubuntu: apt-get install etcd-client", err)
	}
	if as == newest && os.Getenv("LOCKSIM_ETCDUTL") == "" {
		skip(t, "a server of this version needs the etcdutl of the same version: set LOCKSIM_ETCDUTL")
	}
	for _, f := range restored {
		t.Run(f.name, func(t *testing.T) {
			if as == old && f.bump > 0 {
				t.Skip("a restore can skip revisions only since etcdutl 3.5.10")
			}
			t.Parallel()
			server := startEtcd(t)
			client := server.client(t)
			f.run(t, &scriptRunner{
				client: client, pass: time.Sleep,
				save:    func() error { return server.save(client) },
				restore: func() error { return server.restore(program, f.bump) },
			}, as)
		})
	}
}

// save makes a backup of the server.
func (r *realEtcd) save(client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	snapshot, err := client.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	file, err := os.Create(filepath.Join(r.dir, "backup"))
	if err != nil {
		return err
	}
	_, err = io.Copy(file, snapshot)
	return errors.Join(err, file.Close())
}

// restore deletes the server's disk and starts the server with the backup.
func (r *realEtcd) restore(program string, bump int64) error {
	r.stop()
	r.data = "restored"
	how := []string{"snapshot", "restore", "backup", "--data-dir", r.data, "--initial-cluster", "default=" + peersURL, "--initial-advertise-peer-urls", peersURL}
	if bump > 0 {
		how = append(how, "--mark-compacted", fmt.Sprint("--bump-revision=", bump))
	}
	tool := exec.Command(program, how...)
	tool.Dir = r.dir
	if output, err := tool.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, output)
	}
	return r.start()
}
