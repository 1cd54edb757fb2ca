package goredis9_test

import (
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trackrecord/internal/proof"
	redsyncv4 "github.com/locksim/locksim/trackrecord/libraries/redsync-v4"
)

func TestRedsync(t *testing.T) {
	proof.Run(t, redsyncv4.Config, redsyncv4.New(pool),
		proof.Option{Name: "WithSetNXOnExtend", New: redsyncv4.New(pool, redsync.WithSetNXOnExtend())})
}

// pool makes a pool of go-redis with the strict settings that this project's own locks use.
func pool(env *locks.Env, node int) redis.Pool { return goredis.NewPool(locks.RedisClient(env, node)) }
