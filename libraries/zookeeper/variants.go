package zookeeper

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// czxidRecipe reads the node once more when Lock has returned, and fails if it does not
// exist. So it learns the transaction that created the node, the czxid, which is its token:
// a number that grows with every change in the ensemble. No other client can have created
// that node, so the number belongs to this grant. It asks until it gets an answer, because
// the node exists meanwhile.
type czxidRecipe struct{ *queue }

func (l czxidRecipe) acquire(word string) (*lease, error) {
	path, granted, err := l.lock(word)
	if err != nil {
		return nil, err
	}
	var there bool
	var stat *zk.Stat
	err = l.insist(func() (err error) {
		there, stat, err = l.Conn.Exists(path)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, zk.ErrSessionExpired
	}
	granted.session, granted.token = stat.EphemeralOwner, uint64(stat.Czxid)
	granted.lost = l.lost(granted.session)
	return granted, nil
}

// disconnectRecipe notifies the holder as soon as the connection is lost. Only the servers
// know whether the session has ended too, and they cannot be asked then.
type disconnectRecipe struct{ *queue }

func (w disconnectRecipe) acquire(word string) (*lease, error) {
	granted, err := w.queue.acquire(word)
	if err == nil {
		granted.lost = w.disconnected()
	}
	return granted, err
}

// deletingRecipe deletes the queue's own node after the release, as applications do that
// make a node for each job and do not want to keep all of them: with Curator's reaper, or
// with a container node that the servers delete themselves. A node that has children cannot
// be deleted.
type deletingRecipe struct {
	recipe
	queue *handle
}

func (t deletingRecipe) acquire(word string) (*lease, error) {
	granted, err := t.recipe.acquire(word)
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

// A silentLease does not notify its holder that it is lost.
type silentLease struct{ lease *lease }

func (m silentLease) Session() string                   { return m.lease.Session() }
func (m silentLease) Token() uint64                     { return m.lease.Token() }
func (m silentLease) Release(ctx context.Context) error { return m.lease.Release(ctx) }

// withLossSignal returns the lease with or without a loss signal.
func withLossSignal(granted *lease, hasSignal bool) locks.Lease {
	if hasSignal {
		return granted
	}
	return silentLease{granted}
}
