package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
)

// A place is a client's place in the queue of a lock: a key that exists as long as the
// client's session. The place whose key has the lowest create revision holds the lock.
type place struct {
	client         *clientv3.Client
	queue          string // the prefix of all keys of the lock
	key            string
	createRevision int64
	isFirst        bool
}

// byQueue takes a place in the queue, as the library's Mutex does. If the place is not the
// first, it calls wait. A client whose wait returns without an error believes that it holds
// the lock. The variants of the recipe differ in wait.
func byQueue(wait func(context.Context, *place) error) attempt {
	return func(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
		p, err := queueUp(ctx, l, s)
		if err != nil {
			return grant{}, err
		}
		if !p.isFirst {
			if err := wait(ctx, p); err != nil {
				// ctx may have ended, so it cannot be used here.
				_ = p.leave(l.client.Ctx()) // if that fails, the key exists until the session ends
				return grant{}, err
			}
		}
		return grant{p.createRevision, p.leave, p.keyUnchanged()}, nil
	}
}

// queueUp takes a place in the queue: it writes the session's key, unless the key exists.
func queueUp(ctx context.Context, l *lock, s *concurrency.Session) (*place, error) {
	p := &place{client: l.client, queue: l.env.Key + "/"}
	p.key = fmt.Sprintf("%s%x", p.queue, s.Lease())
	r, err := l.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)).
		Then(clientv3.OpPut(p.key, "", clientv3.WithLease(s.Lease())), clientv3.OpGet(p.queue, clientv3.WithFirstCreate()...)).
		Else(clientv3.OpGet(p.key), clientv3.OpGet(p.queue, clientv3.WithFirstCreate()...)).
		Commit()
	if err != nil {
		return nil, err
	}
	p.createRevision = r.Header.GetRevision()
	if !r.Succeeded {
		p.createRevision = r.Responses[0].GetResponseRange().Kvs[0].CreateRevision
	}
	p.isFirst = r.Responses[1].GetResponseRange().Kvs[0].CreateRevision == p.createRevision
	return p, nil
}

// leave gives the place up: it deletes the key.
func (p *place) leave(ctx context.Context) error {
	_, err := p.client.Delete(ctx, p.key)
	return err
}

// keyUnchanged returns the condition that Mutex.IsOwner compares: the place's key exists
// and has not been created anew.
func (p *place) keyUnchanged() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(p.key), "=", p.createRevision)
}

// waitInQueue returns when no earlier place is left. It does not check that its own place
// still exists. The library's Mutex.Lock did not check that either, up to 3.4.3:
// https://github.com/etcd-io/etcd/issues/11456.
func waitInQueue(ctx context.Context, p *place) error {
	for {
		r, err := p.client.Get(ctx, p.queue, append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(p.createRevision-1))...)
		if err != nil || len(r.Kvs) == 0 {
			return err
		}
		if err := waitDeleted(ctx, p.client, string(r.Kvs[0].Key), r.Header.GetRevision()); err != nil {
			return err
		}
	}
}

// waitDeleted waits until a key has been deleted that existed at the revision since.
func waitDeleted(ctx context.Context, c *clientv3.Client, key string, since int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for r := range c.Watch(ctx, key, clientv3.WithRev(since)) {
		if err := r.Err(); err != nil {
			return err
		}
		for _, ev := range r.Events {
			if ev.Type == mvccpb.Event_DELETE {
				return nil
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.New("the watch has ended")
}

// askOwner checks that the place's own key has not changed, as with Mutex.IsOwner, and
// concludes that the client holds the lock. That is wrong, because the key of a waiter has
// not changed either.
func askOwner(ctx context.Context, p *place) error {
	r, err := p.client.Txn(ctx).If(p.keyUnchanged()).Commit()
	switch {
	case err != nil:
		return err
	case !r.Succeeded:
		return fmt.Errorf("%w: its key is gone", locks.ErrNotAcquired)
	}
	return nil
}
