package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/locksim/locksim/locks"
)

// A holder has a session of etcd, and opens a new one when that session has ended.
type holder struct {
	client  *clientv3.Client
	seconds int // the session's TTL
	// keepsExpired: the holder keeps using a session that has ended.
	keepsExpired bool
	// noteKey is a key that a process writes with its session's lease. If the process is
	// restarted, the new process finds the lease by this key and continues the session. If
	// noteKey is empty, each process opens its own session.
	noteKey string
	session *concurrency.Session
}

// newHolder returns a holder whose session is opened before the run begins, as in a process
// that has been running for a while. The handles of a process share one holder, unless an
// option says otherwise.
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
			time.Sleep(2 * keepAliveDelay) // until the client has also renewed the session once
		})
		return h
	}
	if !e.Options.Has("session-per-handle") {
		return locks.Share(e, "etcd session", newSessionHolder), nil
	}
	return newSessionHolder(), nil
}

// seconds converts a TTL to whole seconds, in which etcd counts it.
func seconds(ttl time.Duration) (int, error) {
	if ttl < time.Second || ttl%time.Second != 0 {
		return 0, fmt.Errorf("etcd counts the TTL of a lease in whole seconds, from 1, and the lock's is %v", ttl)
	}
	return int(ttl / time.Second), nil
}

// currentSession returns the session, or a new one if the session has ended.
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

// open opens a session. NewSession could do all of this by itself, but a context that
// bounds NewSession also ends the session later. So the requests are made here, with ctx.
func (h *holder) open(ctx context.Context) (*concurrency.Session, error) {
	lease, err := h.lease(ctx)
	if err != nil {
		return nil, err
	}
	return concurrency.NewSession(h.client, concurrency.WithLease(lease), concurrency.WithTTL(h.seconds))
}

// lease returns the lease for a session. If the note key exists, it is the lease of that
// key, and otherwise a new one. The documentation of concurrency.WithLease recommends this
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
		_, err = h.client.Put(ctx, h.noteKey, "", clientv3.WithLease(granted.ID)) // the key is deleted when the session ends
	}
	return granted.ID, err
}

// hasEnded reports whether the client knows that a session has ended.
func hasEnded(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// A lease is a lock that a client holds as long as its session lasts.
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

// Lost implements [locks.Notifier]. The client closes the channel when the response to a
// keep-alive says that there is no such lease. It also closes the channel when the TTL has
// passed since the last good response arrived, or up to a second later. The client counts
// from the arrival of the response, not from when the keep-alive was sent.
func (l notifyingLease) Lost() <-chan struct{} { return l.session.Done() }
