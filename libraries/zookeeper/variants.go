package zookeeper

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// looks asks for the node once more when Lock has returned, and fails if it is not there. So
// it learns the transaction that has made the node, the czxid, which is its token: a number
// that grows with every change of the ensemble. Nobody else can have made that node, so the
// number is its own. It insists on an answer, because the node stands meanwhile.
type looks struct{ *queue }

func (l looks) acquire(word string) (*lease, error) {
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

// wary tells the holder as soon as the connection is lost. Whether the session is, too, only
// the servers know, and they cannot be asked then.
type wary struct{ *queue }

func (w wary) acquire(word string) (*lease, error) {
	granted, err := w.queue.acquire(word)
	if err == nil {
		granted.lost = w.disconnected()
	}
	return granted, err
}

// tidy deletes the queue's own node after it has released the lock, as those do who make a
// node for each job and do not want to keep them all: Curator's reaper, and the servers
// themselves where that node is a container. A node that has children cannot be deleted.
type tidy struct {
	recipe
	queue *handle
}

func (t tidy) acquire(word string) (*lease, error) {
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

// A mute lease does not tell that it is lost.
type mute struct{ lease *lease }

func (m mute) Session() string                   { return m.lease.Session() }
func (m mute) Token() uint64                     { return m.lease.Token() }
func (m mute) Release(ctx context.Context) error { return m.lease.Release(ctx) }

// lossSignal is the lease as the work has it.
func lossSignal(granted *lease, has bool) locks.Lease {
	if has {
		return granted
	}
	return mute{granted}
}
