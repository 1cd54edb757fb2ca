// Package zookeeper provides the locks whose names begin with zookeeper. They use the
// client github.com/go-zookeeper/zk, unmodified. See [locks.Provide].
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
	_ "github.com/locksim/locksim/servers/zookeeper" // the server that keeps the locks
)

func init() {
	for name, recipe := range map[string]func(*handle) recipe{
		"zookeeper":            func(h *handle) recipe { return &queue{h} },
		"zookeeper-czxid":      func(h *handle) recipe { return czxidRecipe{&queue{h}} },
		"zookeeper-disconnect": func(h *handle) recipe { return disconnectRecipe{&queue{h}} },
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
			d, err := newData(e, session)
			if err != nil {
				return nil, err
			}
			h := &handle{Session: session, path: locks.ZooKeeperPath(e.Key)}
			h.number = int(session.handles.Add(1))
			h.client = e.Client
			r := recipe(h)
			if !e.Options.Has("kept-queue") { // each release deletes the queue's parent node if the queue is empty
				r = deletingRecipe{r, h}
			}
			return &lock{h, d, r, e.Options.Has("loss-signal")}, nil
		})
	}
}

// A handle has what a recipe needs: the session of the process, and the path of the lock.
// attempts counts the attempts that were made with it.
type handle struct {
	*Session
	client   string
	number   int // the number of the handle within its process
	path     string
	attempts atomic.Int64
}

// A recipe is a way to make a lock from znodes. In this package a node is such a znode, an
// entry in ZooKeeper's tree, and not a server.
type recipe interface {
	// acquire waits until the client holds the lock. It writes attemptID, a text that is
	// unique to the attempt, into the node that it creates.
	acquire(attemptID string) (*lease, error)
}

// A lock is a handle with its recipe. If the world (the simulation) keeps in ZooKeeper the data
// that the lock protects, the lock also gives access to the data; otherwise data is nil.
type lock struct {
	*handle
	*data
	recipe recipe
	// hasLossSignal reports whether the holder is notified when its lease is lost.
	hasLossSignal bool
}

// Acquire waits for the lock. A recipe cannot be cancelled. If the context ends first,
// Acquire returns, and the lock is released if the attempt acquires it later.
func (l *lock) Acquire(ctx context.Context) (locks.Lease, error) {
	attemptID := fmt.Sprintf("%s, handle %d, attempt %d", l.client, l.number, l.attempts.Add(1))
	granted, ok, err := answers.Call(ctx, func() (*lease, error) { return l.recipe.acquire(attemptID) },
		func(late *lease) { _ = l.repeatUntilAnswered(late.release) })
	switch {
	case !ok:
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: zookeeper: still waiting", locks.ErrNotAcquired))
	case err != nil:
		return nil, answers.WithCause(ctx, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err))
	}
	return withLossSignal(granted, l.hasLossSignal), nil
}

// A lease lasts until the session of its node ends or the node is deleted. release deletes
// the node.
type lease struct {
	session int64
	lost    <-chan struct{}
	token   uint64
	release func() error
}

// Session implements [locks.Sessioner].
func (l *lease) Session() string { return formatSession(l.session) }

// Lost implements [locks.Notifier]: the channel is closed when the server reports that the
// session has expired.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Token implements [locks.Tokener].
func (l *lease) Token() uint64 { return l.token }

// Release deletes the node. It returns locks.ErrLost if the node or its session no longer
// exists.
func (l *lease) Release(ctx context.Context) error {
	_, err := callWithContext(ctx, func() (struct{}, error) { return struct{}{}, l.release() })
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrSessionExpired) {
		return fmt.Errorf("%w: %w", locks.ErrLost, err)
	}
	return err
}

// A queue is the library's own recipe. Each attempt creates a sequential node, and waits
// until the node before it is deleted. When the library's Lock returns, acquire returns
// too: unlike a [czxidRecipe], it sends no further request.
type queue struct{ *handle }

// acquire implements recipe.
func (q *queue) acquire(attemptID string) (*lease, error) {
	_, granted, err := q.lock(attemptID)
	return granted, err
}

// lock acquires the library's lock, and returns the path of the node that it has created.
// The library exports neither that path nor the node's sequence number, so both are read by
// reflection. The token is the sequence number plus 1. The sequence numbers begin at 0
// again if the node at q.path, under which all attempts create their nodes, was deleted and
// created again. The session is that of the connection, because the library does not say to
// which session the node belongs.
func (q *queue) lock(attemptID string) (path string, granted *lease, err error) {
	k := zk.NewLock(q.Conn, q.path, zk.WorldACL(zk.PermAll))
	if err := k.LockWithData([]byte(attemptID)); err != nil {
		return "", nil, err
	}
	fields, session := reflect.ValueOf(k).Elem(), q.Conn.SessionID()
	number := uint64(fields.FieldByName("seq").Int())
	return fields.FieldByName("lockPath").String(), &lease{session: session, lost: q.sessionEnd(session), token: number + 1, release: k.Unlock}, nil
}
