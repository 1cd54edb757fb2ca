package etcd_test

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// These tests run the client on a real server, without any code of ours. The client's
// session ends while the client waits for a lock:
// https://github.com/etcd-io/etcd/issues/19597. If one of them fails, the client has been
// fixed, and trackrecord and docs/systems.md are out of date.

// Lock keeps waiting. It returns the error only when the lock is free.
func TestAWaiterOutlivesItsSessionOnRealEtcd(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	holder := concurrency.NewMutex(q.session(t), q.name)
	if err := holder.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiter, done := q.session(t), make(chan error, 1)
	go func() { done <- concurrency.NewMutex(waiter, q.name).Lock(t.Context()) }()
	q.expire(t, waiter)

	select {
	case err := <-done:
		t.Fatalf("Lock returns %v when its session expires, want that it keeps waiting", err)
	case <-time.After(time.Second):
	}
	if err := holder.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, concurrency.ErrSessionExpired) {
		t.Errorf("Lock returns %v, want that the session is expired", err)
	}
}

// Campaign keeps waiting. Then it elects a client that has no key, and after that the next
// client as well.
func TestTwoLeadersAreElectedOnRealEtcd(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	first := concurrency.NewElection(q.session(t), q.name)
	if err := first.Campaign(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	waiter, done := q.session(t), make(chan error, 1)
	second := concurrency.NewElection(waiter, q.name)
	go func() { done <- second.Campaign(t.Context(), "second") }()
	q.expire(t, waiter)
	if err := first.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatalf("Campaign of the client without a session returns %v, want nil", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	third := concurrency.NewElection(q.session(t), q.name)
	if err := third.Campaign(ctx, "third"); err != nil {
		t.Errorf("Campaign of the third client returns %v, want nil although the second is elected", err)
	}
	if err := second.Proclaim(ctx, "second"); !errors.Is(err, concurrency.ErrElectionNotLeader) {
		t.Errorf("Proclaim of the second client, which has no key, returns %v, want %v", err, concurrency.ErrElectionNotLeader)
	}
	if err := third.Proclaim(ctx, "third"); err != nil {
		t.Errorf("Proclaim of the third client, which has a key, returns %v, want nil", err)
	}
}

// A lockQueue is a lock for which several sessions wait, on its own server.
type lockQueue struct {
	client *clientv3.Client
	name   string
}

func newQueue(t *testing.T) lockQueue {
	t.Helper()
	if _, err := exec.LookPath(etcdProgram(t)); err != nil {
		skip(t, "there is no etcd server to run this test on (%v); on Debian and Ubuntu: apt-get install etcd-server", err)
	}
	return lockQueue{startEtcd(t).client(t), "queue"}
}

// session opens a session with the shortest TTL that the server grants: two seconds.
func (q lockQueue) session(t *testing.T) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(q.client, concurrency.WithTTL(2))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// expire waits until a waiting session has a key in the queue, stops renewing the session,
// and waits until the server has ended it.
func (q lockQueue) expire(t *testing.T, s *concurrency.Session) {
	t.Helper()
	key := q.name + "/" + strconv.FormatInt(int64(s.Lease()), 16)
	for there := false; ; time.Sleep(20 * time.Millisecond) {
		r, err := q.client.Get(t.Context(), key)
		switch {
		case err != nil:
			t.Fatal(err)
		case len(r.Kvs) > 0 && !there:
			there = true
			s.Orphan()
		case len(r.Kvs) == 0 && there:
			return
		}
	}
}
