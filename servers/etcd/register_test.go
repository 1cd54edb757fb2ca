package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// recordedLock runs a client that calls do. It returns the events of the lock called
// "resource" in the trace, and the ends of sessions.
func recordedLock(t *testing.T, do func(context.Context, *clientv3.Client) error) string {
	t.Helper()
	kind := mutex
	kind.New = func(*locks.Env) (locks.Lock, error) { return nil, nil }
	tr := RunWorld(t, SoloWorld(t, kind, func(ctx context.Context, p *sim.Program) error {
		client, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer client.Close()
		return do(ctx, client)
	}))
	var all []string
	for _, ev := range tr.Events {
		switch ev.Kind {
		case trace.KindSet, trace.KindTouch, trace.KindDelete, trace.KindExpire:
			Equal(t, "key", ev.Key, "resource")
			text := fmt.Sprint(ev.Kind, " ", ev.Value)
			if ev.TTL > 0 {
				text += fmt.Sprint(" for ", ev.TTL)
			}
			all = append(all, text)
		case trace.KindExpireSession:
			all = append(all, ev.Session+" expires")
		case trace.KindCloseSession:
			all = append(all, ev.Session+" is closed")
		}
	}
	return strings.Join(all, ", ")
}

// The trace records a lock as one key: the key is set when a client becomes the holder, and
// deleted when the holder gives up the lock. The holder is the owner of the oldest key in
// the folder "resource/", or of the key "resource" itself.
func TestRecordedEventsOfALock(t *testing.T) {
	lease := func(ctx context.Context, c *clientv3.Client, ttl int64) clientv3.LeaseID {
		l, err := c.Grant(ctx, ttl)
		if err != nil {
			t.Fatal(err)
		}
		return l.ID
	}
	put := func(ctx context.Context, c *clientv3.Client, key, value string, opts ...clientv3.OpOption) {
		if _, err := c.Put(ctx, key, value, opts...); err != nil {
			t.Error(err)
		}
	}
	remove := func(ctx context.Context, c *clientv3.Client, key string, opts ...clientv3.OpOption) {
		if _, err := c.Delete(ctx, key, opts...); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func(context.Context, *clientv3.Client)
		want string
	}{
		{"the queue of a lock: the oldest key is the holder", func(ctx context.Context, c *clientv3.Client) {
			put(ctx, c, "resource/b", "1", clientv3.WithLease(lease(ctx, c, 60)))
			put(ctx, c, "resource/a", "2", clientv3.WithLease(lease(ctx, c, 70)))
			put(ctx, c, "resource/b", "3", clientv3.WithIgnoreLease()) // as the leader of an election does when it proclaims
			put(ctx, c, "resources", "of another name")
			remove(ctx, c, "resource/b")
			put(ctx, c, "resource/b", "4")
			remove(ctx, c, "resource/a")
		}, "set session-1 for 1m0s, delete session-1, set session-2 for 1m10s, delete session-2, set 4"},
		{"a waiter gives up", func(ctx context.Context, c *clientv3.Client) {
			put(ctx, c, "resource/a", "1")
			put(ctx, c, "resource/b", "2")
			remove(ctx, c, "resource/b")
			remove(ctx, c, "resource/a")
		}, "set 1, delete 1"},
		{"a key without a folder", func(ctx context.Context, c *clientv3.Client) {
			first, second := lease(ctx, c, 60), lease(ctx, c, 70)
			put(ctx, c, "resource", "1", clientv3.WithLease(first))
			put(ctx, c, "resource", "1", clientv3.WithLease(first))  // the same put again
			put(ctx, c, "resource", "2", clientv3.WithLease(second)) // although the key has a holder
			if _, err := c.Revoke(ctx, first); err != nil {
				t.Error(err)
			}
			remove(ctx, c, "resource")
		}, "set session-1 for 1m0s, touch session-1 for 1m0s, set session-2 for 1m10s, session-1 is closed, delete session-2"},
		{"the key itself takes precedence over the keys in its folder", func(ctx context.Context, c *clientv3.Client) {
			put(ctx, c, "resource/a", "1")
			put(ctx, c, "resource", "2")
			remove(ctx, c, "resource")
		}, "set 1, set 2, delete 2, set 1"},
		{"a client overwrites the key of another client", func(ctx context.Context, c *clientv3.Client) {
			one, other := lease(ctx, c, 60), lease(ctx, c, 70)
			put(ctx, c, "resource/holder", "1", clientv3.WithLease(one))
			put(ctx, c, "resource/holder", "2", clientv3.WithLease(one)) // another value does not mean another holder
			put(ctx, c, "resource/holder", "3", clientv3.WithLease(other))
			remove(ctx, c, "resource/holder")
		}, "set session-1 for 1m0s, set session-2 for 1m10s, delete session-2"},
		{"all keys are deleted at once", func(ctx context.Context, c *clientv3.Client) {
			put(ctx, c, "resource/a", "1")
			put(ctx, c, "resource/b", "2")
			remove(ctx, c, "resource", clientv3.WithPrefix())
		}, "set 1, delete 1"},
		{"a session expires", func(ctx context.Context, c *clientv3.Client) {
			put(ctx, c, "resource/a", "1", clientv3.WithLease(lease(ctx, c, 5)))
			put(ctx, c, "resource/b", "2", clientv3.WithLease(lease(ctx, c, 60)))
			SleepUntil(10 * time.Second)
		}, "set session-1 for 5s, session-1 expires, expire session-1, set session-2 for 1m0s"},
		{"a session is renewed", func(ctx context.Context, c *clientv3.Client) {
			id := lease(ctx, c, 5)
			put(ctx, c, "resource/a", "1", clientv3.WithLease(id))
			SleepUntil(4 * time.Second)
			if _, err := c.KeepAliveOnce(ctx, id); err != nil {
				t.Error(err)
			}
			SleepUntil(8 * time.Second)
			if _, err := c.Revoke(ctx, id); err != nil {
				t.Error(err)
			}
		}, "set session-1 for 5s, touch session-1 for 5s, session-1 is closed, delete session-1"},
		{"two mutexes share a session", func(ctx context.Context, c *clientv3.Client) {
			s, err := concurrency.NewSession(c, concurrency.WithTTL(60))
			if err != nil {
				t.Fatal(err)
			}
			one, other := concurrency.NewMutex(s, "resource"), concurrency.NewMutex(s, "resource")
			for _, err := range []error{one.Lock(ctx), other.Lock(ctx), one.Unlock(ctx), s.Close()} {
				if err != nil {
					t.Error(err)
				}
			}
		}, "set session-1 for 1m0s, delete session-1, session-1 is closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			Equal(t, "recorded events", recordedLock(t, func(ctx context.Context, client *clientv3.Client) error {
				c.do(ctx, client)
				return nil
			}), c.want)
		})
	}
}

// A key that a client puts again belongs to the client's current section. If another client
// changes the key without giving it another lease, the owner of the key remains.
func TestAKeyBelongsToTheLatestSectionOfItsHolder(t *testing.T) {
	tr := RunWorld(t, SoloWorld(t, mutex, func(ctx context.Context, p *sim.Program) error {
		client, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer client.Close()
		lease, err := client.Grant(ctx, 60)
		if err != nil {
			return err
		}
		for _, value := range []string{"1", "2"} {
			if _, err := p.Acquire(ctx, puttingLock{client, value, lease.ID}); err != nil {
				return err
			}
		}
		return nil
	}))
	var owners []string
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindSet {
			owners = append(owners, fmt.Sprintf("%s %d", ev.Owner.Client, ev.Owner.Section))
		}
	}
	Equal(t, "owners of the key", strings.Join(owners, ", then "), "client-1 1, then client-1 2")
}

// puttingLock is a lock that a client acquires by putting a key.
type puttingLock struct {
	client *clientv3.Client
	value  string
	lease  clientv3.LeaseID
}

func (p puttingLock) Acquire(ctx context.Context) (locks.Lease, error) {
	_, err := p.client.Put(ctx, "resource/holder", p.value, clientv3.WithLease(p.lease))
	return p, err
}
func (p puttingLock) Release(context.Context) error { return nil }

// A lease never expires early, and it expires at most half a second late.
func TestALeaseExpiresInTime(t *testing.T) {
	for seed := range uint64(20) {
		cfg := gcPause(1, "")
		cfg.Seed, cfg.Faults = seed, []sim.Fault{At(time.Second, CrashOf("client-1", trace.Kill))}
		cfg.Clients[0].Works = 20 * time.Second
		tr := RunWorld(t, cfg)
		expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
		renewed := FirstEvent(t, tr, trace.KindTouch, "etcd")
		late := expired.At - renewed.Expires
		if late < 0 || late > 501*time.Millisecond {
			t.Errorf("seed %d: the lease expired %v after its end, want between 0 and 501ms", seed, late)
		}
	}
}

// A crash of any kind loses nothing that a member has acknowledged. After the restart
// each lease lasts for its whole TTL, plus the time of an election.
func TestACrashLosesNothing(t *testing.T) {
	for _, how := range []trace.Crash{trace.Kill, trace.Shutdown, trace.PowerLoss} {
		cfg := gcPause(1, "")
		cfg.Faults = []sim.Fault{Lasting(3*time.Second, At(2*time.Second, CrashOf("etcd-1", how))), At(2*time.Second, CrashOf("client-1", trace.Kill))}
		cfg.Clients[0].Works = 20 * time.Second
		tr := RunWorld(t, cfg)
		led := Events(tr, trace.KindLead, "etcd-1")
		Equal(t, "number of elections", len(led), 2)
		checkBetween(t, "etcd-1 led again", led[1].At-5*time.Second, 100*time.Millisecond, 1010*time.Millisecond)
		expired := OnlyEvent(t, tr, trace.KindExpireSession, "etcd")
		checkBetween(t, "the session expired", expired.At-led[1].At, 11*time.Second, 11510*time.Millisecond)
		Equal(t, "events of the lock's key", KeyHistory(tr, "etcd"), "set 1, touch 1, touch 1, expire 1, set 1, delete 1")
		Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	}
}

// A request that arrives before the cluster has a leader is executed when a leader is elected.
func TestRequestBeforeTheElectionIsExecutedAfterIt(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		SleepUntil(5 * time.Second)
		client, err := newClient(p.Env())
		if err != nil {
			return err
		}
		defer client.Close()
		if _, err = client.Put(ctx, "x", "1"); err != nil {
			return err
		}
		checkBetween(t, "the put succeeded", Now(), 5100*time.Millisecond, 6020*time.Millisecond)
		_, err = client.Get(ctx, "x")
		return err
	}))
	cfg.Nodes = Nodes("etcd", 1)
	tr := RunWorld(t, WithFaults(cfg, Lasting(3*time.Second, At(1999*time.Millisecond, CrashOf("etcd-1", trace.Kill)))))
	Equal(t, "number of elections", len(Events(tr, trace.KindLead, "etcd-1")), 2)
}
