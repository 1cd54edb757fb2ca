package learn

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// setAndCountWithExpiry sets the key and counts the token, and lets the counter expire too.
var setAndCountWithExpiry = redis.NewScript(`
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	local token = redis.call("incr", KEYS[2])
	redis.call("pexpire", KEYS[2], ARGV[2])
	return token
end
return 0`)

func TestExpiringCounter(t *testing.T) {
	runCases(t, locktest.Config{Tokens: true}, func(env *locktest.Env) (locks.Lock, error) {
		return countedLock{newOnOneNode(env), setAndCountWithExpiry}, nil
	}, "claims/tokens", "pause/work", "killed/work", "undisturbed")
}
