package zookeeper

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// A czxidRecipe is a queue, the library's own lock, with another token: the czxid of the znode by
// which the client holds the lock. The czxid is the number of the change that created the znode.
// That number grows with every change in the ensemble. No other client can have created this znode,
// so the number belongs to this grant.
//
// The recipe reads the czxid when Lock has returned. It fails if the znode does not exist. It
// repeats the request until it gets an answer, because it must not return an error while the
// znode still exists.
type czxidRecipe struct{ *queue }

// acquire implements recipe.
func (l czxidRecipe) acquire(attemptID string) (*lease, error) {
	path, granted, err := l.lock(attemptID)
	if err != nil {
		return nil, err
	}
	var exists bool
	var stat *zk.Stat
	err = l.repeatUntilAnswered(func() (err error) {
		exists, stat, err = l.Conn.Exists(path)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, zk.ErrSessionExpired
	}
	granted.session, granted.token = stat.EphemeralOwner, uint64(stat.Czxid)
	granted.lost = l.sessionEnd(granted.session)
	return granted, nil
}

// A disconnectRecipe is a queue that notifies the holder as soon as the connection is lost.
// The session may still be alive, but only the servers know, and a client without a
// connection cannot ask them.
type disconnectRecipe struct{ *queue }

// acquire implements recipe.
func (w disconnectRecipe) acquire(attemptID string) (*lease, error) {
	granted, err := w.queue.acquire(attemptID)
	if err == nil {
		granted.lost = w.connectionEnd()
	}
	return granted, err
}

// A deletingRecipe also deletes, after a release, the node at the lock's path, under which
// the attempts create their nodes. Applications do that if they make a lock for each job
// and do not want to keep all of them; they use Curator's reaper, or a container node that
// the servers delete. A node that still has children cannot be deleted, which is no error.
type deletingRecipe struct {
	recipe
	queue *handle
}

// acquire implements recipe.
func (t deletingRecipe) acquire(attemptID string) (*lease, error) {
	granted, err := t.recipe.acquire(attemptID)
	if err != nil {
		return nil, err
	}
	unlock := granted.release
	granted.release = func() error {
		if err := unlock(); err != nil {
			return err
		}
		err := t.queue.Conn.Delete(t.queue.path, -1)
		if errors.Is(err, zk.ErrNotEmpty) || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	}
	return granted, nil
}

// A silentLease is a lease that does not notify its holder when it is lost.
type silentLease struct{ lease *lease }

func (m silentLease) Session() string                   { return m.lease.Session() }
func (m silentLease) Token() uint64                     { return m.lease.Token() }
func (m silentLease) Release(ctx context.Context) error { return m.lease.Release(ctx) }

// withLossSignal returns a lease that notifies its holder of a loss if hasSignal is set,
// and otherwise one that does not.
func withLossSignal(granted *lease, hasSignal bool) locks.Lease {
	if hasSignal {
		return granted
	}
	return silentLease{granted}
}
