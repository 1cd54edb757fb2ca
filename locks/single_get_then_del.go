package locks

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// This variant is released by a client that compares the value before it deletes the key,
// but without a script: GET, compare, DEL. Between the two commands the key can expire and
// another client can set it. Then the DEL removes that client's key.
func init() {
	Register(Kind{
		Name:     "single-get-then-del",
		System:   Redis,
		Title:    "as single, but released by a GET, a comparison in the client and then a DEL",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New: newVariant(func(l *single) Lock {
			l.release = l.getThenDelete
			return l
		}),
	})
}

// getThenDelete removes the key if it had the claim's value a moment before.
func (l *single) getThenDelete(ctx context.Context, c claim) (bool, error) {
	if isOurs, err := l.ask(ctx, c.isStored); err != nil || !isOurs {
		return false, err
	}
	c.unchecked = true
	return l.ask(ctx, c.remove)
}

// isStored reports whether the key has the claim's value.
func (c claim) isStored(ctx context.Context, node *redis.Client) (bool, error) {
	value, err := node.Get(ctx, c.key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return value == c.value, err
}
