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
	for {
		_, err := n.Conn.Create(n.path, []byte(word), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		switch {
		case err == nil:
			return n.granted(word)
		case errors.Is(err, zk.ErrConnectionClosed):
			// The node may have been made.
			if mine, err := n.made(word); err != nil {
				return nil, err
			} else if mine {
				return n.granted(word)
			}
			continue
		case !errors.Is(err, zk.ErrNodeExists):
			return nil, err
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

// made says whether the node that is there is this attempt's.
func (n naive) made(word string) (bool, error) {
	data, _, err := n.Conn.Get(n.path)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return string(data) == word, err
}

// granted asks for the number of the node, and makes sure that it is still this attempt's:
// another one may have made it anew.
func (n naive) granted(word string) (*lease, error) {
	data, stat, err := n.Conn.Get(n.path)
	switch {
	case err != nil:
		return nil, err
	case string(data) != word:
		return nil, zk.ErrSessionExpired
	}
	return &lease{session: stat.EphemeralOwner, lost: n.lost(stat.EphemeralOwner), token: uint64(stat.Czxid), release: func() error { return n.giveUp(word) }}, nil
}

// giveUp deletes the node, if it is this attempt's: its name does not say so.
func (n naive) giveUp(word string) error {
	data, stat, err := n.Conn.Get(n.path)
	switch {
	case err != nil:
		return err
	case string(data) != word:
		return locks.ErrLost
	}
	return n.Conn.Delete(n.path, stat.Version)
}
