package etcd_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A keyLock is a lock of a single key that belongs to an etcd lease, as somebody writes it
// without a library. It makes at most one mistake.
type keyLock struct {
	etcd    *clientv3.Client
	key     string
	client  string
	ttl     time.Duration
	mistake string
}

func (l *keyLock) makes(mistake string) bool { return l.mistake == mistake }

func (l *keyLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease := &keyLease{lock: l, expires: time.Now().Add(l.ttl)}
	seconds := int64((l.ttl + time.Second - 1) / time.Second)
	switch {
	case l.makes("ttl-in-milliseconds"):
		seconds = l.ttl.Milliseconds()
	case l.makes("half-the-ttl"):
		seconds /= 2
	}
	granted, err := l.etcd.Grant(ctx, seconds)
	if err != nil {
		return nil, err
	}
	lease.id = granted.ID
	created, err := l.create(ctx, lease.id)
	isLate := !time.Now().Before(lease.expires)
	switch {
	case err != nil && l.makes("error-is-yes"):
		return lease, nil
	case err == nil && (created > 0 || l.makes("refusal-is-yes")) && (!isLate || l.makes("no-elapsed-check")):
		lease.token = uint64(created)
		if l.makes("token-is-constant") {
			lease.token = 1
		}
		if l.makes("lease-from-answer") {
			lease.expires = time.Now().Add(l.ttl)
		}
		return lease, nil
	case err == nil:
		err = locks.ErrNotAcquired
	}
	cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
	defer cancel()
	if l.makes("cleanup-under-callers-context") {
		cleanUp = ctx
	}
	if !l.makes("no-cleanup") {
		_ = lease.Release(cleanUp)
	}
	return nil, err
}

// create creates the key, and returns the revision at which it did; 0 if the key exists.
func (l *keyLock) create(ctx context.Context, id clientv3.LeaseID) (revision int64, err error) {
	options := []clientv3.OpOption{clientv3.WithLease(id)}
	if l.makes("no-expiry") {
		options = nil
	}
	if l.makes("looks-then-puts") {
		found, err := l.etcd.Get(ctx, l.key)
		if err != nil || len(found.Kvs) > 0 {
			return 0, err
		}
	}
	if l.makes("looks-then-puts") || l.makes("overwrites") {
		put, err := l.etcd.Put(ctx, l.key, l.client, options...)
		if err != nil {
			return 0, err
		}
		return put.Header.Revision, nil
	}
	created, err := l.etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(l.key), "=", 0)).
		Then(clientv3.OpPut(l.key, l.client, options...)).
		Else(clientv3.OpGet(l.key)).Commit()
	switch {
	case err != nil:
		return 0, err
	case created.Succeeded:
		return created.Header.Revision, nil
	case l.makes("own-name-is-yes"):
		if found := created.Responses[0].GetResponseRange().Kvs; len(found) > 0 && string(found[0].Value) == l.client {
			return created.Header.Revision, nil
		}
	}
	return 0, nil
}

type keyLease struct {
	lock    *keyLock
	id      clientv3.LeaseID
	token   uint64
	expires time.Time
}

func (l *keyLease) Expires() time.Time { return l.expires }
func (l *keyLease) Token() uint64      { return l.token }

func (l *keyLease) Release(ctx context.Context) (err error) {
	client, key := l.lock.etcd, l.lock.key
	switch {
	case l.lock.makes("deletes-any-key"):
		_, err = client.Delete(ctx, key)
	case l.lock.makes("looks-then-deletes"):
		var found *clientv3.GetResponse
		found, err = client.Get(ctx, key)
		if err == nil && len(found.Kvs) > 0 && found.Kvs[0].Lease == int64(l.id) {
			_, err = client.Delete(ctx, key)
		}
	case l.lock.makes("release-does-nothing"):
	case l.lock.makes("ignores-context"):
		_, err = client.Revoke(context.WithoutCancel(ctx), l.id)
	default:
		_, err = client.Revoke(ctx, l.id)
	}
	if l.lock.makes("failed-release-is-success") && !errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// The suite finds what each of these locks does wrong, and reports it as that.
func TestMutants(t *testing.T) {
	config := locktest.Config{System: locks.Etcd, Tokens: true}
	suites.CheckMutants(t, config, []suites.Mutant{
		{Mistake: "overwrites", Reported: "acquire overwrites the key of another acquisition"},
		{Mistake: "looks-then-puts", Reported: "acquire overwrites the key of another acquisition"},
		{Mistake: "refusal-is-yes", Reported: "acquire grants the lock although the server did not"},
		{Mistake: "own-name-is-yes", Reported: "acquire mistakes another acquisition's key for its own, because both have the same value", Once: []string{"claims", "handles", "errors"}},
		{Mistake: "error-is-yes", Reported: "acquire grants the lock although the server did not"},
		{Mistake: "no-expiry", Reported: "acquire leaves a key that never expires", Once: []string{"claims", "releases", "contexts/cancelled"}},
		{Mistake: "half-the-ttl", Reported: "acquire promises a lease that ends later than its key"},
		{Mistake: "ttl-in-milliseconds", Reported: "acquire sets a key that lives much longer than the lease"},
		{Mistake: "lease-from-answer", Reported: "acquire promises a lease that ends later than its key"},
		{Mistake: "no-elapsed-check", Reported: "acquire returns a lease that has already ended"},
		{Mistake: "no-cleanup", Reported: "acquire fails and leaves its key behind"},
		{Mistake: "cleanup-under-callers-context", Reported: "acquire fails and leaves its key behind"},
		{Mistake: "token-is-constant", Reported: "the fencing tokens do not grow"},
		{Mistake: "deletes-any-key", Reported: "release removes the key of another acquisition"},
		{Mistake: "looks-then-deletes", Reported: "release removes the key of another acquisition"},
		{Mistake: "release-does-nothing", Reported: "release reports success and leaves its key behind"},
		{Mistake: "failed-release-is-success", Reported: "release reports success and leaves its key behind", ReportsLoss: true},
		{Mistake: "ignores-context", Reported: "a call of the lock never returns", Once: []string{"contexts", "killed/work"}},
	}, func(mistake string) locktest.New {
		return func(env *locktest.Env) (locks.Lock, error) {
			client, err := etcd.Client(env.Base())
			if err != nil {
				return nil, err
			}
			return &keyLock{client, env.Key(), env.Base().Client, env.TTL(), mistake}, nil
		}
	})
}
