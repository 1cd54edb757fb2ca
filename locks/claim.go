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

// The scripts of the Redis documentation: only a client that knows the value may remove the
// key or extend its life.
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

// A claim is the value that one attempt stores under the lock's key. Its methods send a
// request to one node, and report whether the node did what was asked.
type claim struct {
	key, value string
	ttl        time.Duration
	// unchecked makes remove delete the key whatever its value.
	unchecked bool
}

// newValue returns a random value for a claim.
func (e *Env) newValue() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(e.Rand, b[:]); err != nil {
		return "", fmt.Errorf("no random value for the lock: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// milliseconds returns the TTL, rounded up because a key must not end before its lease.
func (c claim) milliseconds() int64 {
	return int64((c.ttl + time.Millisecond - 1) / time.Millisecond)
}

func (c claim) set(ctx context.Context, node *redis.Client) (bool, error) {
	err := node.Do(ctx, "SET", c.key, c.value, "NX", "PX", c.milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (c claim) remove(ctx context.Context, node *redis.Client) (bool, error) {
	if c.unchecked {
		n, err := node.Del(ctx, c.key).Result()
		return n > 0, err
	}
	n, err := removeScript.Run(ctx, node, []string{c.key}, c.value).Int()
	return n > 0, err
}

// removeIfEqual is remove without a script. It needs Redis 8.4.
func (c claim) removeIfEqual(ctx context.Context, node *redis.Client) (bool, error) {
	n, err := node.Do(ctx, "DELEX", c.key, "IFEQ", c.value).Int()
	return n > 0, err
}

func (c claim) extend(ctx context.Context, node *redis.Client) (bool, error) {
	n, err := extendScript.Run(ctx, node, []string{c.key}, c.value, c.milliseconds()).Int()
	return n > 0, err
}
