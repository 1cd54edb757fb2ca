package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A queueLock is a lock in which each client has a key of its own, which its session keeps, and
// waits until the keys before its own are gone. It makes at most one mistake.
type queueLock struct {
	etcd    *clientv3.Client
	prefix  string
	ttl     time.Duration
	mistake string
}

func (l *queueLock) Acquire(ctx context.Context) (locks.Lease, error) {
	granted, err := l.etcd.Grant(ctx, int64(l.ttl.Seconds()))
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(l.etcd, concurrency.WithLease(granted.ID))
	if err != nil {
		return nil, err
	}
	place := &queuePlace{session: session}
	if err := l.wait(ctx, place); err != nil {
		cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl)
		defer cancel()
		_ = place.Release(cleanUp)
		return nil, errors.Join(locks.ErrNotAcquired, err)
	}
	return place, nil
}

// wait puts the client's key at the end of the queue, and waits until it is the first.
func (l *queueLock) wait(ctx context.Context, place *queuePlace) error {
	own := fmt.Sprintf("%s/%x", l.prefix, place.session.Lease())
	put, err := l.etcd.Put(ctx, own, "", clientv3.WithLease(place.session.Lease()))
	if err != nil {
		return err
	}
	place.revision = put.Header.Revision
	for {
		older := append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(place.revision-1))
		found, err := l.etcd.Get(ctx, l.prefix+"/", older...)
		if err != nil {
			return err
		}
		if len(found.Kvs) == 0 {
			break
		}
		var options []clientv3.OpOption
		if l.mistake != "watches-from-now" {
			options = append(options, clientv3.WithRev(found.Header.Revision+1))
		}
		if err := l.waitForDeletion(ctx, string(found.Kvs[0].Key), options...); err != nil {
			return err
		}
		if l.mistake == "looks-once" {
			break
		}
	}
	start := time.Now()
	found, err := l.etcd.Get(ctx, own)
	if err != nil {
		return err
	}
	if len(found.Kvs) == 0 || time.Since(start) > l.ttl/4 {
		return errors.New("the session may have ended")
	}
	return nil
}

// waitForDeletion waits until a key is deleted.
func (l *queueLock) waitForDeletion(ctx context.Context, key string, options ...clientv3.OpOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for response := range l.etcd.Watch(ctx, key, options...) {
		if err := response.Err(); err != nil {
			return err
		}
		for _, change := range response.Events {
			if change.Type == clientv3.EventTypeDelete {
				return nil
			}
		}
	}
	return errors.Join(errors.New("the watch has ended"), ctx.Err())
}

// A queuePlace is the place of a client in the queue.
type queuePlace struct {
	session  *concurrency.Session
	revision int64
}

// Session returns the ID of the session, as etcd writes it.
func (p *queuePlace) Session() string { return fmt.Sprintf("%x", int64(p.session.Lease())) }

func (p *queuePlace) Token() uint64 { return uint64(p.revision) }

// Release ends the session, and with it the client's key.
func (p *queuePlace) Release(ctx context.Context) error {
	p.session.Orphan()
	_, err := p.session.Client().Revoke(ctx, p.session.Lease())
	return err
}

// The suite finds what each of these queues does wrong, and reports it as that.
func TestQueueMutants(t *testing.T) {
	config := locktest.Config{System: locks.Etcd, Nodes: 3, Tokens: true}
	suites.CheckMutants(t, config, []suites.Mutant{
		{Mistake: "looks-once", Reported: "acquire grants the lock although the server did not"},
		{Mistake: "watches-from-now", Reported: "acquire waits although its own key is the first in the queue", Once: []string{"node-down/acquire"}},
	}, func(mistake string) locktest.New {
		return func(env *locktest.Env) (locks.Lock, error) {
			client, err := etcd.Client(env.Base())
			if err != nil {
				return nil, err
			}
			return &queueLock{client, env.Key(), env.TTL(), mistake}, nil
		}
	})
}
