package locks

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// This is how a lock was written before Redis 2.6.12, when SET had neither NX nor PX.
// Tutorials still teach it: SETNX sets the key, and EXPIRE gives it an end. A client that
// dies between the two commands leaves a key that never ends.
//
// https://redis.io/docs/latest/commands/set/
func init() {
	Register(Kind{
		Name:     "setnx-then-expire",
		System:   Redis,
		Title:    "one Redis node: SETNX and then PEXPIRE, released by a script that checks the value",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New: newVariant(func(l *single) Lock {
			l.set = l.setThenExpire
			return l
		}),
	})
}

// setThenExpire sets the key and then its expiry. If the second command fails, it tries to
// remove the key. It cannot do so if the process has died or is cut off from the node.
func (l *single) setThenExpire(ctx context.Context, c claim) (bool, error) {
	if granted, err := l.ask(ctx, c.setWithoutTTL); err != nil || !granted {
		return false, err
	}
	hasExpiry, err := l.ask(ctx, c.setExpiry)
	if err == nil && !hasExpiry {
		err = errors.New("the key was gone before its expiry was set")
	}
	if err != nil {
		// The attempt has failed, whatever the result of this request is.
		_, _ = l.release(ctx, c)
		return false, err
	}
	return true, nil
}

// setExpiry gives the key an expiry; it reports false if the key does not exist.
func (c claim) setExpiry(ctx context.Context, node *redis.Client) (bool, error) {
	return node.Do(ctx, "PEXPIRE", c.key, c.milliseconds()).Bool()
}
