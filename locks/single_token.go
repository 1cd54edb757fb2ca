package locks

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// This variant makes its fencing token in the same step as the grant. The script that sets
// the key also increments a counter, so no other client can act in between. The counter
// does not expire, and is as durable as the node: if the node restarts without its data,
// the counter begins again at 1.
func init() {
	Register(Kind{
		Name:     "single-token",
		System:   Redis,
		Title:    "as single, but the script that sets the key also mints a fencing token",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value"},
		Slots:    onFirstNode,
		New:      newVariant(func(l *single) Lock { return tokenLock{l} }),
	})
}

// setAndCountScript returns the new token, or 0 if the key exists.
var setAndCountScript = redis.NewScript(`if redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) then
    return redis.call("incr",KEYS[2])
else
    return 0
end`)

// tokenLock is a client's handle on the lock.
type tokenLock struct{ *single }

// Acquire tries once, as single does.
func (l tokenLock) Acquire(ctx context.Context) (Lease, error) {
	var token uint64
	lease, err := l.acquireLease(ctx, func(ctx context.Context, c claim) (bool, error) {
		return l.ask(ctx, func(ctx context.Context, node *redis.Client) (bool, error) {
			var err error
			keys := []string{c.key, counterKey(c.key)}
			token, err = setAndCountScript.Run(ctx, node, keys, c.value, c.milliseconds()).Uint64()
			return token > 0, err
		})
	})
	if err != nil {
		return nil, err
	}
	return tokenLease{extendableSingleLease{lease}, token}, nil
}

// A tokenLease is a lease with the token that its script returned.
type tokenLease struct {
	extendableSingleLease
	token uint64
}

// Token returns the node's count of grants, including this one.
func (l tokenLease) Token() uint64 { return l.token }
