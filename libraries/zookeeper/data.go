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

// data is what a process keeps in ZooKeeper beside its lock: nodes that stay, whose data it
// gets and sets.
type data struct {
	locks.Data
	conn *zk.Conn
}

// keeps is how a process gets at its data: on the session of its lock, or on another one.
// Whoever is first makes the nodes, before the story begins.
func keeps(e *locks.Env, s *Session) (*data, error) {
	if e.Data == nil {
		return nil, nil
	}
	if e.Data.Apart {
		var err error
		if s, err = openAt(e, "zookeeper data", number(e.Client)+1); err != nil {
			return nil, err
		}
	}
	d := &data{*e.Data, s.Conn}
	e.Warm(func(context.Context) {
		for _, object := range d.Objects {
			_, _ = d.conn.Create(node(object), nil, 0, zk.WorldACL(zk.PermAll)) // it may be there
		}
	})
	return d, nil
}

// node is the node that an object is kept in.
func node(object string) string { return locks.ZooKeeperPath(locks.DataKey(object)) }

// Read is as in [locks.DataClient].
func (d *data) Read(ctx context.Context, object string) (version int, err error) {
	stat, err := answered(ctx, func() (*zk.Stat, error) {
		if d.Reads == servers.Synced {
			if _, err := d.conn.Sync(node(object)); err != nil {
				return nil, err
			}
		}
		_, stat, err := d.conn.Get(node(object))
		return stat, err
	})
	if err != nil {
		return 0, fmt.Errorf("not read: %w", err)
	}
	return int(stat.Version), nil
}

// Write is as in [locks.DataClient].
func (d *data) Write(ctx context.Context, object, value string, knew int) (version int, err error) {
	whatever := -1
	if !d.Compares {
		knew = whatever
	}
	stat, err := answered(ctx, func() (*zk.Stat, error) { return d.conn.Set(node(object), []byte(value), int32(knew)) })
	switch {
	case errors.Is(err, zk.ErrBadVersion):
		return 0, fmt.Errorf("zookeeper: %w", locks.ErrChanged)
	case err != nil:
		return 0, fmt.Errorf("not written: %w", err)
	}
	return int(stat.Version), nil
}

// answered is what came of a request, or that its context ended before that: requests of
// go-zookeeper have none.
func answered[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	got, ok, err := answers.Call(ctx, ask, nil)
	if !ok {
		err = answers.Because(ctx, errors.New("zookeeper: no answer"))
	}
	return got, err
}
