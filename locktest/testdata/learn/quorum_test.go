package learn

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// quorum is Redlock: it measures the time that the nodes took, and gives back what it got
// when that is too little or too late.
type quorum struct{ nodes []onOneNode }

func (l quorum) Acquire(ctx context.Context) (locks.Lease, error) {
	own, granted := quorumLease{l.nodes, rand.Text(), len(l.nodes)/2 + 1}, 0
	ttl := l.nodes[0].ttl
	end := time.Now().Add(ttl - ttl/100 - 2*time.Millisecond) // less an allowance for clocks that drift
	for _, n := range l.nodes {
		request, cancel := context.WithTimeout(ctx, ttl/100) // a node that is down must not take the whole TTL
		isSet, err := n.redis.SetNX(request, n.key, own.value, ttl).Result()
		cancel()
		if err == nil && isSet {
			granted++
		}
	}
	if granted >= own.majority && time.Now().Before(end) {
		return own, nil
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl)
	defer cancel()
	_ = own.Release(cleanup) // on all nodes: one that did not answer may have set the key
	return nil, locks.ErrNotAcquired
}

func TestQuorum(t *testing.T) {
	runCases(t, locktest.Config{Nodes: 3}, func(env *locktest.Env) (locks.Lock, error) {
		return quorum(newSimpleQuorum(env)), nil
	}, "late/acquire", "partial/failed-attempt")
}
