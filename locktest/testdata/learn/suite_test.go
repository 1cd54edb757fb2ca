// Package learn has the locks of the chapters in docs/learn, wrong ones and right ones. The test
// of each lock runs it through some test cases of the suite; the test of a wrong lock fails.
package learn

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locktest"
)

// onOneNode is what a lock on one Redis node needs.
type onOneNode struct {
	redis *redis.Client
	key   string
	ttl   time.Duration
}

func newOnOneNode(env *locktest.Env) onOneNode {
	return onOneNode{env.Redis(0), env.Key(), env.TTL()}
}

// runCases runs a lock through the test cases of the suite with these names.
func runCases(t *testing.T, config locktest.Config, build locktest.New, names ...string) {
	t.Helper()
	config.Stories = func(name string) bool { return slices.Contains(names, name) }
	locktest.Run(t, config, build)
}
