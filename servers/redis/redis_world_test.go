package redis_test

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// arrival is the time at which a node serves the first command of a client that starts with
// the run: two hops for the dial, two for HELLO and one for the command.
const arrival = 5 * Hop

// redisWorld returns a world with one node, redis-1, and clients that run programs.
func redisWorld(clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = Nodes("redis", 1)
	return cfg
}

// libraryClient returns a client of the first node with go-redis's own handling of
// connections, which locks.RedisClient changes. The client sends each command once.
func libraryClient(p *sim.Program) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: p.Env().Nodes[0], Dialer: p.Env().Dial, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ContextTimeoutEnabled:    true, MaxRetries: -1,
	})
}

// persistences returns the policies by which a node can write to its disk, such as always.
func persistences() []sim.Persistence {
	system, _ := sim.LookupSystem("redis")
	return system.Persistences()
}
