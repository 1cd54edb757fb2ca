// Package kubernetes provides the locks whose names begin with kubernetes. They are leader
// election by k8s.io/client-go/tools/leaderelection, unmodified, on a Lease: the leader
// holds the lock. See [locks.Provide].
//
// To test your own lock on Kubernetes, use the configuration that [Config] returns.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/kubernetes" // the server that keeps the locks
)

func init() {
	locks.Provide("kubernetes", func(e *locks.Env) (locks.Lock, error) { return newLock(e, false) })
	locks.Provide("kubernetes-late-token", func(e *locks.Env) (locks.Lock, error) { return newLock(e, true) })
}

// sharedIdentity is the identity of every client in a world without the option
// own-identity.
const sharedIdentity = "the-leader"

// A lock is a handle. Each attempt runs a new LeaderElector, like a process that has just started.
// A new elector does not know the age of the Lease that it finds, so it waits for a whole
// LeaseDuration before it replaces the holder.
type lock struct {
	env             *locks.Env
	namespace, name string
	identity        string
	leases          coordinationv1.LeasesGetter
	lateToken       bool // the token is read after the grant, in a request of its own
}

// newLock makes a handle for the lock of a world.
func newLock(e *locks.Env, lateToken bool) (*lock, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("leader election needs an API server of Kubernetes, but there is none")
	}
	if e.TTL < time.Second || e.TTL%time.Second != 0 {
		return nil, fmt.Errorf("a Lease counts its duration in whole seconds, from 1, and the lock's is %v", e.TTL)
	}
	c := Config(e)
	if e.Options.Has("request-timeout") {
		c.Timeout = max(renewDeadline(e.TTL)/2, time.Second)
	}
	client, err := coordinationv1.NewForConfig(c)
	if err != nil {
		return nil, err
	}
	l := &lock{env: e, leases: client, identity: e.Client, lateToken: lateToken}
	l.namespace, l.name, _ = strings.Cut(locks.KubernetesLease(e.Key), "/")
	if !e.Options.Has("own-identity") {
		l.identity = sharedIdentity
	}
	return l, nil
}

// Leader election has three durations: the LeaseDuration, which is the TTL of the lock, and
// these two. In the core components of Kubernetes they are 15, 10 and 2 seconds, as
// client-go's documentation says. Other TTLs have them in the same proportion.
func renewDeadline(ttl time.Duration) time.Duration { return ttl * 10 / 15 }
func retryPeriod(ttl time.Duration) time.Duration   { return ttl * 2 / 15 }

// Acquire waits until the client is the leader, or ctx ends.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	r := &recordingLock{env: l.env, life: l.env.Lifetime(), Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: l.namespace, Name: l.name},
		Client:     l.leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: l.identity},
	}}
	t := &term{lock: l, record: r, started: make(chan context.Context, 1), ended: make(chan struct{})}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            r,
		LeaseDuration:   l.env.TTL,
		RenewDeadline:   renewDeadline(l.env.TTL),
		RetryPeriod:     retryPeriod(l.env.TTL),
		ReleaseOnCancel: l.env.Options.Has("release-on-cancel"),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { t.started <- ctx },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return nil, err
	}
	setElectorClock(elector, l.env.Clock)
	ctxWithoutLog := klog.NewContext(l.env.Lifetime(), logr.Discard())
	var electorCtx context.Context
	electorCtx, t.cancel = context.WithCancel(ctxWithoutLog)
	jitter := jitterSource(l.env)
	go func() {
		defer close(t.ended)
		withJitterSource(jitter, func() { elector.Run(electorCtx) })
	}()
	if leaderCtx, ok := answers.Await(ctx, t.started); ok {
		return t.newLease(ctx, leaderCtx)
	}
	t.cancel()
	return nil, answers.WithCause(ctx, fmt.Errorf("%w: kubernetes: another client leads", locks.ErrNotAcquired))
}

// A term is one run of a LeaderElector, from the attempt until the elector has ended.
type term struct {
	*lock
	record  *recordingLock
	started chan context.Context // gets the context of OnStartedLeading
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the elector has ended
}

// newLease makes the lease of a client that has become the leader. leaderCtx is the
// context that the library ends when the client is no longer the leader.
func (t *term) newLease(ctx, leaderCtx context.Context) (locks.Lease, error) {
	token := t.record.token()
	if t.lateToken {
		current, err := t.leases.Leases(t.namespace).Get(ctx, t.name, metav1.GetOptions{})
		if err != nil || current.Spec.LeaseTransitions == nil {
			t.cancel()
			return nil, answers.WithCause(ctx, fmt.Errorf("%w: kubernetes: no token", locks.ErrNotAcquired))
		}
		token = uint64(*current.Spec.LeaseTransitions) + 1
	}
	l := &lease{term: t, tokenValue: token, lost: make(chan struct{})}
	l.stopWatching = context.AfterFunc(leaderCtx, func() { close(l.lost) })
	if t.env.Options.Has("loss-signal") {
		return l, nil
	}
	return silentLease{l}, nil
}

// A lease is a term in which the client is the leader.
type lease struct {
	*term
	tokenValue uint64
	// lost is closed when the library ends the context of OnStartedLeading. A release ends
	// that context too, but first calls stopWatching, so that lost is not closed.
	// stopWatching returns false if the context had already ended.
	lost         chan struct{}
	stopWatching func() bool
}

// Session implements [locks.Sessioner]. A session is the Lease together with the identity
// of its holder.
func (l *lease) Session() string { return locks.KubernetesSession(l.env.Key, l.identity) }

// Token implements [locks.Tokener].
func (l *lease) Token() uint64 { return l.tokenValue }

// Lost implements [locks.Notifier].
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release cancels the elector, and waits until it has ended. It returns locks.ErrLost if
// the client was no longer the leader. Without the option kept-lease, it then deletes the
// Lease.
func (l *lease) Release(ctx context.Context) error {
	held := l.stopWatching()
	l.cancel()
	_, ended := answers.Await(ctx, l.ended)
	switch {
	case !ended:
		return answers.WithCause(ctx, errors.New("kubernetes: no answer"))
	case !held:
		return locks.ErrLost
	case l.env.Options.Has("release-on-cancel") && !l.record.released():
		return errors.New("kubernetes: the holder's name was not removed from the Lease")
	case !l.env.Options.Has("kept-lease"):
		return l.remove(ctx)
	}
	return nil
}

// remove deletes the Lease, as a script that cleans up after a job does.
func (l *lease) remove(ctx context.Context) error {
	if err := l.leases.Leases(l.namespace).Delete(ctx, l.name, metav1.DeleteOptions{}); err != nil {
		return answers.WithCause(ctx, errors.New("kubernetes: the Lease was not deleted"))
	}
	return nil
}

// A silentLease is a lease that does not notify its holder when it is lost.
type silentLease struct{ lease *lease }

func (m silentLease) Session() string                   { return m.lease.Session() }
func (m silentLease) Token() uint64                     { return m.lease.Token() }
func (m silentLease) Release(ctx context.Context) error { return m.lease.Release(ctx) }
