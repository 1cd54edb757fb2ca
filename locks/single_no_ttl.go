package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// This lock is for users who do not want to guess how long the work takes: the key exists until its
// holder removes it. So the key never expires while the holder still works. But if a holder dies,
// no client acquires the lock again until an operator deletes the key.
func init() {
	Register(Kind{
		Name:     "single-no-ttl",
		System:   Redis,
		Title:    "one Redis node: SETNX without an expiry, released by a script that checks the value",
		OwnClock: true,
		Endless:  true,
		Accepts:  []string{"node-timeout"},
		Features: []string{"value-check", "fresh-value"},
		Slots:    onFirstNode,
		New:      newVariant(func(l *single) Lock { return endlessLock{l} }),
	})
}

// endlessLock is a client's handle on a lock whose key never expires.
type endlessLock struct{ *single }

// Acquire tries once. After a network error the node may have set the key nevertheless;
// then the key exists forever.
func (l endlessLock) Acquire(ctx context.Context) (Lease, error) {
	h, err := l.setKey(ctx, func(ctx context.Context, c claim) (bool, error) { return l.ask(ctx, c.setWithoutTTL) })
	if err != nil {
		return nil, err
	}
	return h, nil
}

// setWithoutTTL sets a key that never expires, if the key does not exist.
func (c claim) setWithoutTTL(ctx context.Context, node *redis.Client) (bool, error) {
	return node.Do(ctx, "SETNX", c.key, c.value).Bool()
}
