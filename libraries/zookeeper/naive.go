package zookeeper

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// A naive recipe is the simplest one. All clients try to create the same ephemeral node, and the
// client that succeeds holds the lock. All others watch the node. When the node is deleted, all
// these clients are notified, and all but one in vain. This is the thundering herd that ZooKeeper's
// documentation warns of.
type naive struct{ *handle }

// acquire implements recipe.
func (n naive) acquire(attemptID string) (*lease, error) {
	maybeCreated := false // whether an attempt to create the node got no answer, so that it may have succeeded
	for {
		_, err := n.Conn.Create(n.path, []byte(attemptID), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		disconnected := errors.Is(err, zk.ErrConnectionClosed)
		if err != nil && !disconnected && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
		maybeCreated = maybeCreated || disconnected
		if err == nil || maybeCreated {
			granted, failed := n.leaseIfOwn(attemptID)
			switch {
			case granted != nil || failed != nil:
				return granted, failed
			case err == nil:
				return nil, zk.ErrSessionExpired // the node was created, and only the end of the session can have deleted it
			case disconnected:
				continue
			}
		}
		exists, _, deletion, err := n.Conn.ExistsW(n.path)
		if err != nil {
			return nil, err
		}
		if exists {
			if ev := <-deletion; ev.Err != nil {
				return nil, ev.Err
			}
		}
	}
}

// readNode reads the node, and reports whether this attempt has created it. If the node was
// deleted, another attempt may have created it again.
func (n naive) readNode(attemptID string) (stat *zk.Stat, isOwn bool, err error) {
	data, stat, err := n.Conn.Get(n.path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, false, nil
	}
	return stat, string(data) == attemptID, err
}

// leaseIfOwn returns the lease if this attempt has created the existing node, and otherwise
// nil. It repeats the request until it gets an answer, because it must not return while it
// may hold the lock without knowing.
func (n naive) leaseIfOwn(attemptID string) (granted *lease, err error) {
	err = n.repeatUntilAnswered(func() error {
		stat, isOwn, err := n.readNode(attemptID)
		if err == nil && isOwn {
			owner := stat.EphemeralOwner
			granted = &lease{session: owner, lost: n.sessionEnd(owner), token: uint64(stat.Czxid), release: func() error { return n.deleteOwn(attemptID) }}
		}
		return err
	})
	return granted, err
}

// deleteOwn deletes the node if this attempt has created it. All attempts use the same
// path, so deleteOwn reads the node first. It repeats the request until it gets an answer:
// a node that is left behind would exist as long as the process's session.
func (n naive) deleteOwn(attemptID string) error {
	triedBefore := false
	return n.repeatUntilAnswered(func() error {
		stat, isOwn, err := n.readNode(attemptID)
		switch {
		case err != nil:
			return err
		case !isOwn && triedBefore:
			return nil // an earlier try has succeeded, but its response was lost
		case !isOwn:
			return locks.ErrLost
		}
		triedBefore = true
		return n.Conn.Delete(n.path, stat.Version)
	})
}
