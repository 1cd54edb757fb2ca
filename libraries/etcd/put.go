package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// byPut is a recipe that people copy. The lock is one key, and a client that has put the
// key, with a lease, believes that it holds the lock. Nothing checks whether the key
// existed before. A release deletes the key, even if another client has put it meanwhile.
// token returns the fencing token.
func byPut(token func(*clientv3.PutResponse) int64) attempt {
	return func(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
		key := l.env.Key + "/holder"
		r, err := l.client.Put(ctx, key, l.env.Client, clientv3.WithLease(s.Lease()), clientv3.WithPrevKV())
		if err != nil {
			return grant{}, err
		}
		return grant{token: token(r), release: func(ctx context.Context) error {
			_, err := l.client.Delete(ctx, key)
			return err
		}}, nil
	}
}

// createRevisionOf returns the revision in which the key was created. A put of a key that
// exists does not change it.
func createRevisionOf(r *clientv3.PutResponse) int64 {
	if r.PrevKv != nil {
		return r.PrevKv.CreateRevision
	}
	return modRevisionOf(r)
}

// modRevisionOf returns the revision of the put.
func modRevisionOf(r *clientv3.PutResponse) int64 { return r.Header.GetRevision() }

// byLookThenPut checks whether the key exists, and puts it if not, in two requests. Another
// client can put the key between them.
func byLookThenPut(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	r, err := l.client.Get(ctx, l.env.Key+"/holder")
	switch {
	case err != nil:
		return grant{}, err
	case len(r.Kvs) > 0:
		return grant{}, concurrency.ErrLocked
	}
	return byPut(modRevisionOf)(ctx, l, s)
}
