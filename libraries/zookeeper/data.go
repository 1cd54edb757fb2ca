package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
	servers "github.com/locksim/locksim/servers/zookeeper"
)

// data is access to the objects that a process keeps in ZooKeeper beside its lock. Each
// object is a persistent node.
type data struct {
	locks.Data
	conn *zk.Conn
}

// newData returns access to the data of a process, or nil if the world (the simulation) keeps no
// data in ZooKeeper. The data uses the session of the lock, or a session of its own if the world
// wants that. Before the run begins, the nodes are created.
func newData(e *locks.Env, s *Session) (*data, error) {
	if e.Data == nil {
		return nil, nil
	}
	if e.Data.SeparateClient {
		var err error
		if s, err = openAt(e, "zookeeper data", trailingNumber(e.Client)+1); err != nil {
			return nil, err
		}
	}
	d := &data{*e.Data, s.Conn}
	e.OnWarmUp(func(context.Context) {
		for _, object := range d.Objects {
			_, _ = d.conn.Create(nodePath(object), nil, 0, zk.WorldACL(zk.PermAll)) // another process may have created it already
		}
	})
	return d, nil
}

// nodePath returns the path of the node that holds an object.
func nodePath(object string) string { return locks.ZooKeeperPath(locks.DataKey(object)) }

// Read implements [locks.DataClient]. It returns the version of the object.
func (d *data) Read(ctx context.Context, object string) (version int, err error) {
	stat, err := callWithContext(ctx, func() (*zk.Stat, error) {
		if d.ReadMode == servers.Synced {
			if _, err := d.conn.Sync(nodePath(object)); err != nil {
				return nil, err
			}
		}
		_, stat, err := d.conn.Get(nodePath(object))
		return stat, err
	})
	if err != nil {
		return 0, err
	}
	return int(stat.Version), nil
}

// Write implements [locks.DataClient]. knownVersion is the version that the client has read.
// If the world compares versions, the write succeeds only if the object still has that
// version.
func (d *data) Write(ctx context.Context, object, value string, knownVersion int) (version int, err error) {
	anyVersion := -1
	if !d.ComparesVersion {
		knownVersion = anyVersion
	}
	stat, err := callWithContext(ctx, func() (*zk.Stat, error) { return d.conn.Set(nodePath(object), []byte(value), int32(knownVersion)) })
	switch {
	case errors.Is(err, zk.ErrBadVersion):
		return 0, fmt.Errorf("zookeeper: %w", locks.ErrChanged)
	case err != nil:
		return 0, err
	}
	return int(stat.Version), nil
}

// callWithContext calls ask, which makes requests, and returns its result. If ctx ends
// first, it returns an error: go-zookeeper's requests take no context.
func callWithContext[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	got, ok, err := answers.Call(ctx, ask, nil)
	if !ok {
		err = answers.WithCause(ctx, errors.New("zookeeper: no answer"))
	}
	return got, err
}
