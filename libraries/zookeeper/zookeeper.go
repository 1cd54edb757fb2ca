// Package zookeeper provides the locks whose names begin with zookeeper, on
// github.com/go-zookeeper/zk, unmodified. See [locks.Provide].
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/zookeeper" // what they are tried on
)

func init() {
	for name, recipe := range map[string]func(*handle) recipe{
		"zookeeper":            func(h *handle) recipe { return &queue{h} },
		"zookeeper-czxid":      func(h *handle) recipe { return looks{&queue{h}} },
		"zookeeper-disconnect": func(h *handle) recipe { return wary{&queue{h}} },
		"zookeeper-naive":      func(h *handle) recipe { return naive{h} },
	} {
		locks.Provide(name, func(e *locks.Env) (locks.Lock, error) {
			if len(e.Nodes) == 0 {
				return nil, errors.New(name + " needs a ZooKeeper server, but there is none")
			}
			session, err := Open(e)
			if err != nil {
				return nil, err
			}
			d, err := keeps(e, session)
			if err != nil {
				return nil, err
			}
			h := &handle{Session: session, path: locks.ZooKeeperPath(e.Key)}
			h.number = int(session.handles.Add(1))
			h.client = e.Client
			r := recipe(h)
			if !e.Options.Has("kept-queue") {
				r = tidy{r, h}
			}
			return &lock{h, d, r, e.Options.Has("loss-signal")}, nil
		})
	}
}

// A handle is what a recipe has: the process's session, and the path of the lock.
type handle struct {
	*Session
	client   string
	number   int // of the handle in its process
	path     string
	attempts atomic.Int64
}

// A recipe is a way to make a lock of ZooKeeper's nodes.
type recipe interface {
	// acquire waits until it has the lock. It writes the attempt's own word into its node.
	acquire(word string) (*lease, error)
}

type lock struct {
	*handle
	*data
	recipe recipe
	// tells says that the work is told when its lease is lost.
	tells bool
}

// Acquire waits for the lock. Neither recipe can be called off: what an attempt gets whose
// context has ended is given back, whenever that is.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	word := fmt.Sprintf("%s, handle %d, attempt %d", l.client, l.number, l.attempts.Add(1))
	granted, ok, err := answers.Call(ctx, func() (*lease, error) { return l.recipe.acquire(word) },
		func(late *lease) { _ = l.insist(late.release) })
	switch {
	case !ok:
		return nil, answers.Because(ctx, fmt.Errorf("%w: zookeeper: still waiting", locks.ErrNotAcquired))
	case err != nil:
		return nil, answers.Because(ctx, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err))
	}
	return lossSignal(granted, l.tells), nil
}

// A lease lasts as long as the session with which its node ends.
type lease struct {
	session int64
	lost    <-chan struct{}
	token   uint64
	release func() error
}

// Session is as in [locks.Sessioner].
func (l *lease) Session() string { return word(l.session) }

// Lost is as in [locks.Notifier]: it is closed when the server says that the session has
// expired.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Token is as in [locks.Tokener].
func (l *lease) Token() uint64 { return l.token }

// Release deletes the node. If it is not there any more, or its session is not, the lock was
// lost before.
func (l *lease) Release(ctx context.Context) error {
	_, err := answered(ctx, func() (struct{}, error) { return struct{}{}, l.release() })
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrSessionExpired) {
		return fmt.Errorf("%w: %w", locks.ErrLost, err)
	}
	return err
}

// queue is the library's own recipe: each attempt makes a sequential node and waits for the
// one before it to go. What Lock returns is the grant: nothing is asked after it.
type queue struct{ *handle }

func (q *queue) acquire(word string) (*lease, error) {
	_, granted, err := q.lock(word)
	return granted, err
}

// lock is a grant of the library's, and the path of the node that it has made. The library
// keeps that to itself, and the node's number in the queue, too. The token is that number,
// from 1: it begins anew with a queue that was deleted. The session is the connection's, as
// the library does not say with which session its node ends.
func (q *queue) lock(word string) (path string, granted *lease, err error) {
	k := zk.NewLock(q.Conn, q.path, zk.WorldACL(zk.PermAll))
	if err := k.LockWithData([]byte(word)); err != nil {
		return "", nil, err
	}
	own, session := reflect.ValueOf(k).Elem(), q.Conn.SessionID()
	number := uint64(own.FieldByName("seq").Int())
	return own.FieldByName("lockPath").String(), &lease{session: session, lost: q.lost(session), token: number + 1, release: k.Unlock}, nil
}
