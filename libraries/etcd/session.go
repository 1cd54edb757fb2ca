package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
)

// A holder of a session has one that lasts, and takes a new one when it is over.
type holder struct {
	client  *clientv3.Client
	seconds int
	session *concurrency.Session
	// keeps goes on with a session that is over.
	keeps bool
}

// seconds is a TTL as etcd counts it.
func seconds(ttl time.Duration) (int, error) {
	if ttl <= 0 || ttl%time.Second != 0 {
		return 0, fmt.Errorf("etcd counts the TTL of a lease in whole seconds, and %v is not: give the lock a ttl of %v", ttl, max(1, ttl.Round(time.Second)/time.Second)*time.Second)
	}
	return int(ttl / time.Second), nil
}

// newHolder has a session opened before the story begins, as that of a process which has
// been running for a while.
func newHolder(e *locks.Env, client *clientv3.Client) (*holder, error) {
	seconds, err := seconds(e.TTL)
	if err != nil {
		return nil, err
	}
	h := &holder{client: client, seconds: seconds}
	e.Warm(func(ctx context.Context) {
		_, _ = h.current(ctx) // the first Acquire tries again
	})
	return h, nil
}

// current is the session, or a new one if that is over.
func (h *holder) current(ctx context.Context) (*concurrency.Session, error) {
	if h.session != nil && (h.keeps || !over(h.session)) {
		return h.session, nil
	}
	s, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	h.session = s
	return s, nil
}

// open is what NewSession does by itself, but that its context is the session's: one that
// bounds the attempt would end the session.
func (h *holder) open(ctx context.Context) (*concurrency.Session, error) {
	lease, err := h.client.Grant(ctx, int64(h.seconds))
	if err != nil {
		return nil, err
	}
	return concurrency.NewSession(h.client, concurrency.WithLease(lease.ID), concurrency.WithTTL(h.seconds))
}

func over(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// grant is what all leases of a session have in common.
type grant struct {
	session *concurrency.Session
	token   uint64
	release func(context.Context) error
}

// Session is as in [locks.Sessioner].
func (g *grant) Session() string { return fmt.Sprintf("%x", g.session.Lease()) }

// Lost is as in [locks.Notifier]. The client closes it when a keep-alive is answered by
// that there is no such lease, and within a second after the TTL has passed since the
// last good answer has come.
func (g *grant) Lost() <-chan struct{} { return g.session.Done() }

// Token is as in [locks.Tokener].
func (g *grant) Token() uint64 { return g.token }

// Release is as in [locks.Lease].
func (g *grant) Release(ctx context.Context) error {
	if err := g.release(ctx); err != nil {
		return failed(ctx, "not released", err)
	}
	return nil
}
