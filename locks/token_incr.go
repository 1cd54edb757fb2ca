package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/internal/answers"
)

// This source is the most obvious counter: Redis has INCR, which is atomic. But the client
// asks for the token after the lock was granted, so other clients can act in between. A
// holder that is paused before it asks gets its token when it wakes up, and then has a
// greater token than the holders after it.
func init() {
	registerTokenSource(TokenSource{
		Name:   "incr",
		Title:  "an INCR on one Redis node, after the lock was granted",
		Counts: true,
		System: Redis,
		Warm:   func(e *Env) { counterClients(e) },
		Mint: func(ctx context.Context, e *Env) (uint64, error) {
			counters := counterClients(e)
			if len(counters) == 0 {
				return 0, fmt.Errorf("%w: the source incr needs a Redis node for its counter, but there is none", ErrNoToken)
			}
			token, err := countToken(ctx, e, counters[0], counterTimeout)
			if err != nil {
				return 0, fmt.Errorf("%w: %w", ErrNoToken, answers.WithCause(ctx, errors.New(answers.Reason(err))))
			}
			return token, nil
		},
	})
}

// counterTimeout bounds a request to the counter, as go-redis does by default.
const counterTimeout = 5 * time.Second

// countToken increments the lock's counter on a node, and returns the new value.
func countToken(ctx context.Context, e *Env, node *redis.Client, timeout time.Duration) (uint64, error) {
	ctx, cancel := withTimeout(ctx, e.Clock, timeout)
	defer cancel()
	return node.Do(ctx, "INCR", counterKey(e.Key)).Uint64()
}
