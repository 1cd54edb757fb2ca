package locks

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"
)

// These are the scripts of the Redis documentation. They compare the key's value first:
// only a client that knows the value may remove the key or extend its life.
var (
	removeScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end`)
	extendScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("pexpire",KEYS[1],ARGV[2])
else
    return 0
end`)
)

// A claim is the key of a lock with the value that one attempt to acquire the lock stores
// under it. Each of its methods with a context sends one request to one node, and reports
// whether the node did what was asked.
type claim struct {
	key, value string
	ttl        time.Duration
	// unchecked makes remove delete the key whatever the key's value is.
	unchecked bool
}

// newValue returns a random value for a claim.
func (e *Env) newValue() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(e.Rand, b[:]); err != nil {
		return "", fmt.Errorf("cannot draw a random value for the lock: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// milliseconds returns the TTL, rounded up because a key must not end before its lease.
func (c claim) milliseconds() int64 {
	return int64((c.ttl + time.Millisecond - 1) / time.Millisecond)
}

// set sets the key if it does not exist; it reports false if the key exists.
func (c claim) set(ctx context.Context, node *redis.Client) (bool, error) {
	err := node.Do(ctx, "SET", c.key, c.value, "NX", "PX", c.milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// remove removes the key; it reports false if the key was gone or had another value.
func (c claim) remove(ctx context.Context, node *redis.Client) (bool, error) {
	if c.unchecked {
		n, err := node.Del(ctx, c.key).Result()
		return n > 0, err
	}
	n, err := removeScript.Run(ctx, node, []string{c.key}, c.value).Int()
	return n > 0, err
}

// removeIfEqual does what remove does, but by one command instead of a script. The command
// needs Redis 8.4.
func (c claim) removeIfEqual(ctx context.Context, node *redis.Client) (bool, error) {
	n, err := node.Do(ctx, "DELEX", c.key, "IFEQ", c.value).Int()
	return n > 0, err
}

// extend sets the key's expiry to one TTL from now; it reports false if the key was gone or
// had another value.
func (c claim) extend(ctx context.Context, node *redis.Client) (bool, error) {
	n, err := extendScript.Run(ctx, node, []string{c.key}, c.value, c.milliseconds()).Int()
	return n > 0, err
}
