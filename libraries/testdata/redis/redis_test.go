// Package redis runs package locktest against the locks of libraries for Redis. The mistakes
// of their current releases are known. The package is small, so locksim mutate can compile
// it again and again: docs/testing-your-lock.md has the scores.
package redis

import (
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"

	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
	_ "github.com/locksim/locksim/libraries/rueidislock"
)

func TestRedsync(t *testing.T)     { run(t, "redsync", locktest.Config{Nodes: 5, Extends: true}) }
func TestRedislock(t *testing.T)   { run(t, "redislock", locktest.Config{Extends: true}) }
func TestRueidislock(t *testing.T) { run(t, "rueidislock", locktest.Config{Notifies: true}) }

// run runs the suite against a kind of lock.
func run(t *testing.T, name string, config locktest.Config) {
	kind, _ := locks.Lookup(name)
	config.Slots, config.Known = kind.Slots, "known.json"
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) { return kind.New(env.Base()) })
}
