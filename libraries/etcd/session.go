package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
)

// A holder has a session, and opens a new one when that has ended.
type holder struct {
	client  *clientv3.Client
	seconds int
	// keepsExpired: it does not replace a session that has ended.
	keepsExpired bool
	// noteKey is the key under which a process finds the session of its predecessor, which
	// it continues; "" means that it opens a session of its own.
	noteKey string
	session *concurrency.Session
}

// newHolder makes a holder whose session is opened before the run begins, like that of a
// process which has been running for a while.
func newHolder(e *locks.Env, client *clientv3.Client) (*holder, error) {
	seconds, err := seconds(e.TTL)
	if err != nil {
		return nil, err
	}
	newSessionHolder := func() *holder {
		h := &holder{client: client, seconds: seconds, keepsExpired: !e.Options.Has("new-session")}
		if !e.Options.Has("own-session") {
			h.noteKey = e.Key + ".session"
		}
		e.OnWarmUp(func(ctx context.Context) {
			_, _ = h.currentSession(ctx)   // if it fails, the first Acquire tries again
			time.Sleep(2 * keepAliveDelay) // until the session has been renewed, too
		})
		return h
	}
	if !e.Options.Has("session-per-handle") {
		return locks.Share(e, "etcd session", newSessionHolder), nil
	}
	return newSessionHolder(), nil
}

// seconds converts a TTL to whole seconds, as etcd counts it.
func seconds(ttl time.Duration) (int, error) {
	if ttl < time.Second || ttl%time.Second != 0 {
		return 0, fmt.Errorf("etcd counts the TTL of a lease in whole seconds, from 1, and the lock's is %v", ttl)
	}
	return int(ttl / time.Second), nil
}

// currentSession returns the session, or a new one if that has ended.
func (h *holder) currentSession(ctx context.Context) (*concurrency.Session, error) {
	if h.session != nil && (h.keepsExpired || !hasEnded(h.session)) {
		return h.session, nil
	}
	s, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	h.session = s
	return s, nil
}

// open does what NewSession does by itself, except for the context: a context that bounds
// NewSession also ends the session.
func (h *holder) open(ctx context.Context) (*concurrency.Session, error) {
	lease, err := h.lease(ctx)
	if err != nil {
		return nil, err
	}
	return concurrency.NewSession(h.client, concurrency.WithLease(lease), concurrency.WithTTL(h.seconds))
}

// lease returns the lease for a session: a new one, or, if there is a note, the one to
// which the note is attached. The documentation of concurrency.WithLease recommends this
// for a restarted process that wants its lock back.
func (h *holder) lease(ctx context.Context) (clientv3.LeaseID, error) {
	if h.noteKey != "" {
		r, err := h.client.Get(ctx, h.noteKey)
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
	if h.noteKey != "" {
		_, err = h.client.Put(ctx, h.noteKey, "", clientv3.WithLease(granted.ID)) // it is deleted with the session
	}
	return granted.ID, err
}

func hasEnded(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// lease is a lock that is held as long as a session lasts.
type lease struct {
	session *concurrency.Session
	grant
}

// Session implements [locks.Sessioner].
func (l *lease) Session() string { return fmt.Sprintf("%x", l.session.Lease()) }

// Token implements [locks.Tokener].
func (l *lease) Token() uint64 { return uint64(l.token) }

// Release implements [locks.Lease].
func (l *lease) Release(ctx context.Context) error {
	if err := l.release(ctx); err != nil {
		return requestError(ctx, "not released", err)
	}
	return nil
}

// A notifyingLease is a lease whose holder watches Session.Done.
type notifyingLease struct{ *lease }

// Lost implements [locks.Notifier]. The client closes the channel when a keep-alive is
// answered with "no such lease", or up to a second after the TTL has passed since the last
// good answer arrived. It does not count from when that keep-alive was sent.
func (l notifyingLease) Lost() <-chan struct{} { return l.session.Done() }
