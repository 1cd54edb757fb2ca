package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// byPut is a recipe that goes round: the lock is one key, and who has put it there, with a
// lease, has the lock. Nothing asks whether it was there. Released is it by deleting the
// key, whoever has put it there since.
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

// createdIn is the revision in which the key was made that was put: who puts it again
// does not make it.
func createdIn(r *clientv3.PutResponse) int64 {
	if r.PrevKv != nil {
		return r.PrevKv.CreateRevision
	}
	return changedIn(r)
}

// changedIn is the revision in which the key was put.
func changedIn(r *clientv3.PutResponse) int64 { return r.Header.GetRevision() }

// byLookThenPut looks whether the key is there, and puts it if not: in two requests, and
// somebody else may come in between.
func byLookThenPut(ctx context.Context, l *lock, s *concurrency.Session) (grant, error) {
	r, err := l.client.Get(ctx, l.env.Key+"/holder")
	switch {
	case err != nil:
		return grant{}, err
	case len(r.Kvs) > 0:
		return grant{}, concurrency.ErrLocked
	}
	return byPut(changedIn)(ctx, l, s)
}
