package zookeeper

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/locks"
)

// naive is the first recipe that comes to mind: whoever can make the node has the lock, and
// everybody else watches it. When it goes all of them are told, and all but one in vain: the
// herd that ZooKeeper's documentation warns of.
type naive struct{ *handle }

func (n naive) acquire(word string) (*lease, error) {
	unsure := false // whether some attempt to make the node, which had no answer, has made it
	for {
		_, err := n.Conn.Create(n.path, []byte(word), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		cut := errors.Is(err, zk.ErrConnectionClosed)
		if err != nil && !cut && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
		unsure = unsure || cut
		if err == nil || unsure {
			granted, failed := n.granted(word)
			switch {
			case granted != nil || failed != nil:
				return granted, failed
			case err == nil:
				return nil, zk.ErrSessionExpired // it was made, and nothing else has ended it
			case cut:
				continue
			}
		}
		there, _, gone, err := n.Conn.ExistsW(n.path)
		if err != nil {
			return nil, err
		}
		if there {
			if ev := <-gone; ev.Err != nil {
				return nil, ev.Err
			}
		}
	}
}

// look is the node, and whether it is this attempt's: another one may have made it anew.
func (n naive) look(word string) (stat *zk.Stat, mine bool, err error) {
	data, stat, err := n.Conn.Get(n.path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, false, nil
	}
	return stat, string(data) == word, err
}

// granted is the lease, if the node that is there is this attempt's. It insists on an answer,
// because the node stands meanwhile.
func (n naive) granted(word string) (granted *lease, err error) {
	err = n.insist(func() error {
		stat, mine, err := n.look(word)
		if err == nil && mine {
			owner := stat.EphemeralOwner
			granted = &lease{session: owner, lost: n.lost(owner), token: uint64(stat.Czxid), release: func() error { return n.giveUp(word) }}
		}
		return err
	})
	return granted, err
}

// giveUp deletes the node, if it is this attempt's: its name does not say so. It insists, as a
// node that is left behind stands as long as the process lives.
func (n naive) giveUp(word string) error {
	asked := false
	return n.insist(func() error {
		stat, mine, err := n.look(word)
		switch {
		case err != nil:
			return err
		case !mine && asked:
			return nil // the answer to an earlier try was lost
		case !mine:
			return locks.ErrLost
		}
		asked = true
		return n.Conn.Delete(n.path, stat.Version)
	})
}
