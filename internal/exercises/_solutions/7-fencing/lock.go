// Package lock is a lock on Redis: a model solution of stage 7.
package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before.
var ErrLost = errors.New("lock was lost")

// A Lock is a client's handle on the lock with some key.
type Lock struct {
	nodes []*redis.Client
	key   string
	ttl   time.Duration
}

// New returns a handle on the lock with this key. There is one node until stage 5, and from
// stage 6 on there are five, which know nothing of each other. A lease lasts for one TTL.
func New(nodes []*redis.Client, key string, ttl time.Duration) *Lock {
	return &Lock{nodes, key, ttl}
}

// A Lease is the right to work under the lock.
type Lease struct {
	lock    *Lock
	value   string
	expires time.Time
	token   uint64
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// askTimeout bounds the wait for one node. It is short compared with a TTL.
func (l *Lock) askTimeout() time.Duration { return min(l.ttl/10, 200*time.Millisecond) }

// ask calls do for all nodes at the same time, and returns for how many of them do succeeded.
func (l *Lock) ask(ctx context.Context, do func(ctx context.Context, node *redis.Client) bool) int {
	ctx, cancel := context.WithTimeout(ctx, l.askTimeout())
	defer cancel()
	answers := make(chan bool)
	for _, node := range l.nodes {
		go func() { answers <- do(ctx, node) }()
	}
	count := 0
	for range l.nodes {
		if <-answers {
			count++
		}
	}
	return count
}

// quorum is the smallest number of nodes that is a majority.
func (l *Lock) quorum() int { return len(l.nodes)/2 + 1 }

// grant sets a key that does not exist, and counts the grant. It returns the count, or 0 if the
// key exists.
var grant = redis.NewScript(`
if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[2]) then
	return redis.call("incr", KEYS[2])
end
return 0`)

// writeBack raises the count to ARGV[2], if the value of KEYS[1] is still ARGV[1].
var writeBack = redis.NewScript(`
if redis.call("get", KEYS[1]) ~= ARGV[1] then
	return 0
end
if tonumber(redis.call("get", KEYS[2]) or "0") < tonumber(ARGV[2]) then
	redis.call("set", KEYS[2], ARGV[2])
end
return 1`)

// Acquire tries once to acquire the lock. If another client holds it, Acquire does not wait.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The keys are set later than this moment, so they also expire later than the lease.
	lease := &Lease{lock: l, value: rand.Text(), expires: time.Now().Add(l.ttl)}
	keys := []string{l.key, l.key + ":count"}
	counts := make(chan uint64, len(l.nodes))
	granted := l.ask(ctx, func(ctx context.Context, node *redis.Client) bool {
		n, err := grant.Run(ctx, node, keys, lease.value, l.ttl.Milliseconds()).Uint64()
		counts <- n
		return err == nil && n > 0
	})
	close(counts)
	for n := range counts {
		lease.token = max(lease.token, n)
	}
	// Then a majority of nodes knows this token. Each later majority shares a node with it, so
	// a later grant counts higher.
	if granted >= l.quorum() {
		granted = l.ask(ctx, func(ctx context.Context, node *redis.Client) bool {
			n, err := writeBack.Run(ctx, node, keys, lease.value, lease.token).Int()
			return err == nil && n == 1
		})
	}
	if granted >= l.quorum() && time.Now().Before(lease.expires) {
		return lease, nil
	}
	// A key may be set although there was no answer. The release must be sent even if ctx has
	// ended.
	_ = lease.Release(context.WithoutCancel(ctx))
	return nil, ErrNotAcquired
}

// Token returns the fencing token. It is greater than the tokens of all earlier leases.
func (l *Lease) Token() uint64 { return l.token }

// removeOwn is a script that deletes KEYS[1] if its value is still ARGV[1], in one step.
var removeOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0`)

// Release removes the keys that still have the value of this lease, on all nodes.
func (l *Lease) Release(ctx context.Context) error {
	removed := l.lock.ask(ctx, func(ctx context.Context, node *redis.Client) bool {
		n, err := removeOwn.Run(ctx, node, []string{l.lock.key}, l.value).Int()
		return err == nil && n == 1
	})
	if removed < l.lock.quorum() {
		return ErrLost
	}
	return nil
}

// extendOwn is a script that sets the expiry of KEYS[1] if its value is still ARGV[1].
var extendOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`)

// Extend lets the lease last for one TTL from now. After an error the lease is lost.
func (l *Lease) Extend(ctx context.Context) error {
	expires := time.Now().Add(l.lock.ttl)
	if !time.Now().Before(l.expires) {
		return ErrLost
	}
	extended := l.lock.ask(ctx, func(ctx context.Context, node *redis.Client) bool {
		n, err := extendOwn.Run(ctx, node, []string{l.lock.key}, l.value, l.lock.ttl.Milliseconds()).Int()
		return err == nil && n == 1
	})
	if extended < l.lock.quorum() || !time.Now().Before(l.expires) {
		return ErrLost
	}
	l.expires = expires
	return nil
}
