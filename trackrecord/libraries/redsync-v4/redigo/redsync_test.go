package redigo_test

import (
	"context"
	"testing"

	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trackrecord/internal/proof"
	redsyncv4 "github.com/locksim/locksim/trackrecord/libraries/redsync-v4"
)

func TestRedsync(t *testing.T) {
	proof.Run(t, redsyncv4.Config, redsyncv4.New(pool))
}

// pool makes a pool of redigo with its defaults.
func pool(env *locks.Env, node int) redsyncredis.Pool {
	dial := env.Dialer(node)
	pool := &redis.Pool{MaxIdle: 3, DialContext: func(ctx context.Context) (redis.Conn, error) {
		c, err := dial(ctx, "tcp", env.Nodes[node])
		if err != nil {
			return nil, err
		}
		return redis.NewConn(c, 0, 0), nil
	}}
	env.Cleanup(func() { pool.Close() })
	return redigo.NewPool(pool)
}
