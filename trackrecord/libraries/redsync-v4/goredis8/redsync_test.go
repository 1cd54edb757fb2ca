package goredis8_test

import (
	"testing"

	"github.com/go-redis/redis/v8"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v8"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trackrecord/internal/proof"
	redsyncv4 "github.com/locksim/locksim/trackrecord/libraries/redsync-v4"
)

func TestRedsync(t *testing.T) {
	proof.Run(t, redsyncv4.Config, redsyncv4.New(pool))
}

// pool makes a pool of go-redis that sends each command once.
func pool(env *locks.Env, node int) redsyncredis.Pool {
	client := redis.NewClient(&redis.Options{
		Addr:               env.Nodes[node],
		Dialer:             env.Dialer(node),
		MaxRetries:         -1,
		PoolSize:           1024,
		IdleTimeout:        -1,
		IdleCheckFrequency: -1,
	})
	env.Cleanup(func() { client.Close() })
	return goredis.NewPool(client)
}
