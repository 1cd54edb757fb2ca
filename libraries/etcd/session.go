package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
)

// A holder has a session, and takes a new one when it is over.
type holder struct {
	client  *clientv3.Client
	seconds int
	// keeps goes on with a session that is over.
	keeps bool
	// note is the key under which a process finds the session of the one before it, which
	// it goes on with; "" has one of its own.
	note    string
	session *concurrency.Session
}

// newHolder has a session opened before the story begins, as that of a process which has been
// running for a while.
func newHolder(e *locks.Env, client *clientv3.Client) (*holder, error) {
	seconds, err := seconds(e.TTL)
	if err != nil {
		return nil, err
	}
	opens := func() *holder {
		h := &holder{client: client, seconds: seconds, keeps: !e.Options.Has("new-session")}
		if !e.Options.Has("own-session") {
			h.note = e.Key + ".session"
		}
		e.Warm(func(ctx context.Context) {
			_, _ = h.current(ctx)               // the first Acquire tries again
			time.Sleep(2 * keepAliveComesAfter) // so that it has been kept alive, too
		})
		return h
	}
	if !e.Options.Has("session-per-handle") {
		return locks.Share(e, "etcd session", opens), nil
	}
	return opens(), nil
}

// seconds is a TTL as etcd counts it.
func seconds(ttl time.Duration) (int, error) {
	if ttl < time.Second || ttl%time.Second != 0 {
		return 0, fmt.Errorf("etcd counts the TTL of a lease in whole seconds, from 1, and the lock's is %v", ttl)
	}
	return int(ttl / time.Second), nil
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

// open is what NewSession does by itself, but for the context: one that bounds NewSession
// ends the session too.
func (h *holder) open(ctx context.Context) (*concurrency.Session, error) {
	lease, err := h.lease(ctx)
	if err != nil {
		return nil, err
	}
	return concurrency.NewSession(h.client, concurrency.WithLease(lease), concurrency.WithTTL(h.seconds))
}

// lease is that of a session: a new one, or, if there is a note, the one that it hangs on. So
// the documentation of concurrency.WithLease has a process that was restarted find its lock
// again.
func (h *holder) lease(ctx context.Context) (clientv3.LeaseID, error) {
	if h.note != "" {
		r, err := h.client.Get(ctx, h.note)
		if err != nil {
			return 0, err
		}
		if len(r.Kvs) > 0 {
			return clientv3.LeaseID(r.Kvs[0].Lease), nil
		}
	}
	granted, err := h.client.Grant(ctx, int64(h.seconds))
	if err != nil {
		return 0, err
	}
	if h.note != "" {
		_, err = h.client.Put(ctx, h.note, "", clientv3.WithLease(granted.ID)) // it goes with the session
	}
	return granted.ID, err
}

func over(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// lease is a lock as long as a session lasts.
type lease struct {
	session *concurrency.Session
	grant
}

// Session is as in [locks.Sessioner].
func (l *lease) Session() string { return fmt.Sprintf("%x", l.session.Lease()) }

// Token is as in [locks.Tokener].
func (l *lease) Token() uint64 { return uint64(l.token) }

// Release is as in [locks.Lease].
func (l *lease) Release(ctx context.Context) error {
	if err := l.release(ctx); err != nil {
		return failed(ctx, "not released", err)
	}
	return nil
}

// A notifyingLease is one whose holder looks at Session.Done.
type notifyingLease struct{ *lease }

// Lost is as in [locks.Notifier]. The client closes it when the answer to a keep-alive is
// that there is no such lease, and up to a second after the TTL has passed since the last
// good answer came: not since that was asked for.
func (l notifyingLease) Lost() <-chan struct{} { return l.session.Done() }
