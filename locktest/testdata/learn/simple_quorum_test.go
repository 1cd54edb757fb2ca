package learn

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// simpleQuorum asks all nodes, and counts the grants. That is all it does.
type simpleQuorum struct{ nodes []onOneNode }

func (l simpleQuorum) Acquire(ctx context.Context) (locks.Lease, error) {
	own := quorumLease{value: rand.Text(), majority: len(l.nodes)/2 + 1}
	for _, n := range l.nodes {
		if isSet, err := n.redis.SetNX(ctx, n.key, own.value, n.ttl).Result(); err == nil && isSet {
			own.nodes = append(own.nodes, n)
		}
	}
	if len(own.nodes) < own.majority {
		return nil, locks.ErrNotAcquired
	}
	return own, nil
}

type quorumLease struct {
	nodes    []onOneNode
	value    string
	majority int
}

// Release removes the keys. The lock is lost if fewer nodes than a majority still had it.
func (l quorumLease) Release(ctx context.Context) error {
	removed := 0
	for _, n := range l.nodes {
		if (uniqueLease{n, l.value}).Release(ctx) == nil {
			removed++
		}
	}
	if removed < l.majority {
		return locks.ErrLost
	}
	return nil
}

func newSimpleQuorum(env *locktest.Env) (l simpleQuorum) {
	for i := range env.Nodes() {
		l.nodes = append(l.nodes, onOneNode{env.Redis(i), env.Key(), env.TTL()})
	}
	return l
}

func TestSimpleQuorum(t *testing.T) {
	runCases(t, locktest.Config{Nodes: 3}, func(env *locktest.Env) (locks.Lock, error) {
		return newSimpleQuorum(env), nil
	}, "late/acquire", "partial/failed-attempt")
}
