package etcd_test

import (
	"context"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/servers/etcd/recipes"
	"github.com/locksim/locksim/sim"
)

// lockAt calls etcd's lock service: a member acquires the lock with a lease for the client.
// It returns the key that holds the lock.
func lockAt(ctx context.Context, c *clientv3.Client, name string, lease clientv3.LeaseID) (key string, err error) {
	got := recipes.New("v3lockpb.LockResponse")
	err = c.ActiveConnection().Invoke(ctx, recipes.Lock, recipes.New("v3lockpb.LockRequest").With("name", name).With("lease", int64(lease)).Message, got.Message)
	return string(got.Bytes("key")), err
}

// unlockAt calls etcd's lock service to release the lock that a key holds.
func unlockAt(ctx context.Context, c *clientv3.Client, key string) error {
	return c.ActiveConnection().Invoke(ctx, recipes.Unlock, recipes.New("v3lockpb.UnlockRequest").With("key", key).Message, recipes.New("v3lockpb.UnlockResponse").Message)
}

// If the lock service acquires a lock for a client, the trace is the same as if the client
// had acquired the lock itself.
func TestLockServiceAcquiresLikeAClient(t *testing.T) {
	got := recordedLock(t, func(ctx context.Context, c *clientv3.Client) error {
		one, err := c.Grant(ctx, 60)
		if err != nil {
			return err
		}
		key, err := lockAt(ctx, c, "resource", one.ID)
		if err != nil {
			return err
		}
		second := make(chan error, 1)
		go func() {
			key, err := lockAt(ctx, c, "resource", 0) // 0: the server creates a lease for the client
			if err == nil {
				err = unlockAt(ctx, c, key)
			}
			second <- err
		}()
		time.Sleep(time.Second)
		if err := unlockAt(ctx, c, key); err != nil {
			return err
		}
		return <-second
	})
	Equal(t, "recorded events of the lock", got, "set session-1 for 1m0s, delete session-1, set session-2 for 1m0s, delete session-2")
}

// A member knows the client's deadline for its call of the lock service. At the deadline it
// removes the client from the queue, even if it hears nothing more from the client.
func TestAWaiterThatIsCutOffLeavesTheQueue(t *testing.T) {
	var keys []int64
	holds := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer c.Close()
		lease, err := c.Grant(ctx, 100)
		if err != nil {
			return err
		}
		if _, err := lockAt(ctx, c, "resource", lease.ID); err != nil {
			return err
		}
		for _, at := range []time.Duration{5 * time.Second, 20 * time.Second} {
			SleepUntil(at)
			r, err := c.Get(ctx, "resource/", clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil {
				return err
			}
			keys = append(keys, r.Count)
		}
		return nil
	})
	waits := Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
		c, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer c.Close()
		lease, err := c.Grant(ctx, 100)
		if err != nil {
			return err
		}
		SleepUntil(time.Second)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if _, err := lockAt(ctx, c, "resource", lease.ID); err == nil {
			t.Error("client-2 acquired the lock while client-1 held it")
		}
		return nil
	})
	cfg := ToyWorld(holds, waits)
	cfg.Nodes = Nodes("etcd", 1)
	tr := RunWorld(t, WithFaults(cfg, Lasting(30*time.Second, At(3*time.Second, &sim.Partition{Process: "client-2", From: []string{"etcd-1"}}))))
	AllFaultsStruck(t, tr)
	if len(keys) != 2 || keys[0] != 2 || keys[1] != 1 {
		t.Errorf("number of keys in the queue at 5 s and at 20 s: got %v, want 2 and 1", keys)
	}
	Equal(t, "doubts", strings.Join(tr.Doubts, "; "), "")
}

// A method that a real member serves, but the simulated one does not, makes the run
// inconclusive when it is called.
func TestUnsupportedMethodsCauseDoubts(t *testing.T) {
	supported := map[string]bool{
		pb.KV_Range_FullMethodName: true, pb.KV_Put_FullMethodName: true, pb.KV_DeleteRange_FullMethodName: true, pb.KV_Txn_FullMethodName: true, pb.KV_Compact_FullMethodName: true,
		pb.Lease_LeaseGrant_FullMethodName: true, pb.Lease_LeaseRevoke_FullMethodName: true, pb.Lease_LeaseTimeToLive_FullMethodName: true, pb.Lease_LeaseLeases_FullMethodName: true,
		pb.Cluster_MemberList_FullMethodName: true, pb.Maintenance_Status_FullMethodName: true,
	}
	unsupported := []string{pb.Maintenance_Snapshot_FullMethodName, "/grpc.health.v1.Health/Check"}
	for _, d := range []grpc.ServiceDesc{pb.KV_ServiceDesc, pb.Lease_ServiceDesc, pb.Cluster_ServiceDesc, pb.Maintenance_ServiceDesc, pb.Auth_ServiceDesc} {
		for _, m := range d.Methods {
			if path := "/" + d.ServiceName + "/" + m.MethodName; !supported[path] {
				unsupported = append(unsupported, path)
			}
		}
	}
	for _, path := range unsupported {
		b := preamble()
		writeCall(b, path, nil)
		Equal(t, "doubts about a call of "+path, strings.Join(runRawBytes(t, b.Bytes()).Doubts, "; "), "client-1 called "+path+", which a real member knows and etcd-1 does not")
	}
	for _, path := range []string{recipes.Lock, recipes.Unlock, recipes.Campaign, recipes.Proclaim, recipes.Leader, recipes.Observe, recipes.Resign} {
		b := preamble()
		writeCall(b, path, nil)
		Equal(t, "doubts about a call of "+path, strings.Join(runRawBytes(t, b.Bytes()).Doubts, "; "), "")
	}
}
