package mutants

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// These are the mistakes of a lock on a quorum of nodes. Mutants that are Redlock with a
// feature turned off are not among them. Some mistakes are close to such a mutant:
//
//   - Redlock without "elapsed-check" has the mistakes noElapsedCheck, leaseFromAcquireEnd and
//     extendWithoutElapsed at once.
//   - Redlock without "release-on-all-nodes" does more than releaseWhereGranted: it also leaves
//     out nodes after failed attempts.
//   - Redlock without "release-after-failure" is exactly noCleanup. But an exploration would
//     not detect it. Each handle on Redlock has its own connections, which changes how long its
//     attempts take. With these delays no single fault makes two clients collide in every
//     attempt.
const (
	halfIsEnough         mistake = "half-is-enough"
	noElapsedCheck       mistake = "no-elapsed-check"
	driftAdded           mistake = "drift-added"
	noCleanup            mistake = "no-cleanup"
	extendAnyKey         mistake = "extend-without-compare"
	extendOnErrors       mistake = "extend-counts-errors"
	ttlInSeconds         mistake = "ttl-in-seconds"
	oneValueForAll       mistake = "one-value-for-all"
	retryWithoutPause    mistake = "retry-without-pause"
	leaseFromAcquireEnd  mistake = "lease-from-the-end"
	extendWithoutElapsed mistake = "extend-without-elapsed-check"
	extendSets           mistake = "extend-sets"
	extendOnOneNode      mistake = "extend-on-one-node"
	releaseWhereGranted  mistake = "release-where-granted"
	acquireOnErrors      mistake = "acquire-counts-errors"
	sameNodeTwice        mistake = "same-node-twice"
	removeStopsAtError   mistake = "remove-stops-at-error"
)

// quorumMutants lists the mutants of the lock on a quorum, which make one mistake each.
func quorumMutants() []Mutant {
	return []Mutant{
		onQuorum(halfIsEnough, "half of the nodes, rounded down, are enough for a grant", "lease-exclusion"),
		onQuorum(noElapsedCheck, "a grant counts however long the acquire took", "section-exclusion"),
		onQuorum(driftAdded, "the allowance for drift is added to the lease", "lease-exclusion"),
		onQuorum(noCleanup, "a failed attempt leaves its keys behind", "progress"),
		onRedlock("release-without-compare", "value-check", "release deletes the key even if another client has set it", "release-ownership"),
		onQuorum(extendAnyKey, "extend renews the key even if another client has set it", "release-ownership"),
		onQuorum(extendOnErrors, "extend counts an error of a node as a success", "lease-exclusion"),
		onQuorum(ttlInSeconds, "the TTL is sent in seconds where the command takes milliseconds", "lease-exclusion"),
		onQuorum(oneValueForAll, "all clients set the key to the same value", "release-ownership"),
		onRedlock("value-reused", "fresh-value", "all attempts of a client set the key to the same value", "release-ownership"),
		onQuorum(retryWithoutPause, "a refused attempt is repeated immediately, until the context ends", "endless retry"),
		onQuorum(leaseFromAcquireEnd, "the lease counts from the end of acquire, not from its beginning", "lease-exclusion"),
		onQuorum(extendWithoutElapsed, "an extension counts however long the extend took", "claim: extends"),
		onQuorum(extendSets, "extend sets the key again if it is gone", "lease-exclusion"),
		onQuorum(extendOnOneNode, "one node is enough for an extension", "lease-exclusion"),
		onQuorum(releaseWhereGranted, "release sends its request only to the nodes that had granted the lock", "progress"),
		onQuorum(acquireOnErrors, "acquire counts an error of a node as a success", "lease-exclusion"),
		onQuorum(sameNodeTwice, "extend asks some nodes twice and others never", "lease-exclusion"),
	}
}

// quorumLock is a lock on several nodes. It works like Redlock, but asks one node after the
// other.
type quorumLock struct {
	maker
	env   *locks.Env
	nodes []*redis.Client
	value string // the value that the next attempt sets
}

func newQuorum(env *locks.Env, m maker) *quorumLock {
	q := &quorumLock{maker: m, env: env, value: newValue(env)}
	for i := range env.Nodes {
		q.nodes = append(q.nodes, locks.RedisClient(env, i))
	}
	return q
}

// newValue makes the random value of an attempt.
func newValue(env *locks.Env) string {
	var b [16]byte
	io.ReadFull(env.Rand, b[:]) // reading the random numbers of a process never fails
	return hex.EncodeToString(b[:])
}

// majority returns how many nodes must grant the lock.
func (q *quorumLock) majority() int {
	if q.hasMistake(halfIsEnough) {
		return len(q.nodes) / 2
	}
	return len(q.nodes)/2 + 1
}

// drift returns by how much the lease ends before the TTL, because the nodes' clocks may
// run faster than the client's.
func (q *quorumLock) drift() time.Duration {
	drift := q.env.TTL/100 + 2*time.Millisecond
	if q.hasMistake(driftAdded) {
		return -drift
	}
	return drift
}

func (q *quorumLock) now() fakeclock.Reading { return q.env.Clock.Read(fakeclock.Monotonic) }

// leaseEnd returns the end of a lease that was requested at start.
func (q *quorumLock) leaseEnd(start fakeclock.Reading) fakeclock.Reading {
	return start.Add(q.env.TTL - q.drift())
}

// nodeTimeout is the timeout of a request to one node.
const nodeTimeout = 50 * time.Millisecond

// A vote is the answer of one node to a request. Nodes are counted from 0.
type vote struct {
	node int
	yes  bool
	err  error
}

// votes are the answers of several nodes to one request.
type votes []vote

// granting returns the nodes that did what they were asked to do.
func (v votes) granting() (nodes []int) {
	for _, vote := range v {
		if vote.yes {
			nodes = append(nodes, vote.node)
		}
	}
	return nodes
}

// countErrors counts the nodes that gave no answer, or answered with an error.
func (v votes) countErrors() (n int) {
	for _, vote := range v {
		if vote.err != nil {
			n++
		}
	}
	return n
}

// ask sends a request to nodes, one after the other, and returns their votes.
func (q *quorumLock) ask(ctx context.Context, nodes []int, request func(context.Context, *redis.Client) (bool, error)) votes {
	return q.askUntil(ctx, nodes, false, request)
}

// remove asks nodes to remove a key.
func (q *quorumLock) remove(ctx context.Context, nodes []int, key nodeKey) votes {
	return q.askUntil(ctx, nodes, q.hasMistake(removeStopsAtError), key.remove)
}

// askUntil is ask. If stopsAtError is set, it asks no more nodes after one that gave no
// answer, or answered with an error.
func (q *quorumLock) askUntil(ctx context.Context, nodes []int, stopsAtError bool, request func(context.Context, *redis.Client) (bool, error)) votes {
	var answers votes
	for _, i := range nodes {
		bounded, cancel := fakeclock.WithTimeout(ctx, q.env.Clock, nodeTimeout)
		yes, err := request(bounded, q.nodes[i])
		cancel()
		answers = append(answers, vote{i, yes && err == nil, err})
		if err != nil && stopsAtError {
			break
		}
	}
	return answers
}

func (q *quorumLock) allNodes() (nodes []int) {
	for i := range q.nodes {
		nodes = append(nodes, i)
	}
	return nodes
}

// Acquire makes one attempt. A lock with the mistake retryWithoutPause makes more.
func (q *quorumLock) Acquire(ctx context.Context) (locks.Lease, error) {
	for {
		lease, err := q.tryAcquire(ctx)
		if err == nil {
			return lease, nil
		}
		if !q.hasMistake(retryWithoutPause) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// tryAcquire makes one attempt to acquire the lock.
func (q *quorumLock) tryAcquire(ctx context.Context) (*quorumLease, error) {
	key := nodeKey{maker: q.maker, key: q.env.Key, ttl: q.env.TTL, value: q.value}
	q.value = newValue(q.env)
	if q.hasMistake(oneValueForAll) {
		key.value = "locked"
	}
	start := q.now()
	answers := q.ask(ctx, q.allNodes(), key.set)
	granted := answers.granting()
	if q.hasMistake(leaseFromAcquireEnd) {
		start = q.now()
	}
	grantCount, ends := len(granted), q.leaseEnd(start)
	if q.hasMistake(acquireOnErrors) {
		grantCount += answers.countErrors()
	}
	if grantCount >= q.majority() && (ends.Sub(q.now()) > 0 || q.hasMistake(noElapsedCheck)) {
		return &quorumLease{quorumLock: q, nodeKey: key, granted: granted, ending: ending{end: ends}}, nil
	}
	if !q.hasMistake(noCleanup) {
		// Clean up on all nodes, also on those that answered with an error. The caller's
		// context may have ended, so it must not end the cleanup.
		q.remove(context.WithoutCancel(ctx), q.allNodes(), key)
	}
	return nil, fmt.Errorf("%w: %d of %d nodes said yes", locks.ErrNotAcquired, len(granted), len(q.nodes))
}

// A quorumLease is a lease of the lock on a quorum. granted are the nodes that granted it.
type quorumLease struct {
	*quorumLock
	nodeKey nodeKey
	granted []int
	ending
}

// Release removes the key from every node.
func (l *quorumLease) Release(ctx context.Context) error {
	nodes := l.allNodes()
	if l.hasMistake(releaseWhereGranted) {
		nodes = l.granted
	}
	if answers := l.remove(ctx, nodes, l.nodeKey); len(answers.granting()) < l.majority() {
		return fmt.Errorf("released on %d of %d nodes", len(answers.granting()), len(l.nodes))
	}
	return nil
}

// Extend gives the key a new TTL on a quorum of nodes.
func (l *quorumLease) Extend(ctx context.Context) error {
	start, nodes := l.now(), l.allNodes()
	if l.hasMistake(sameNodeTwice) {
		for i := range nodes {
			nodes[i] /= 2
		}
	}
	answers := l.ask(ctx, nodes, l.nodeKey.extend)
	extendedCount, ends := len(answers.granting()), l.leaseEnd(start)
	if l.hasMistake(extendOnErrors) {
		extendedCount += answers.countErrors()
	}
	if extendedCount < l.majority() && !(l.hasMistake(extendOnOneNode) && extendedCount > 0) {
		return fmt.Errorf("%w: extended on %d of %d nodes", locks.ErrLost, extendedCount, len(l.nodes))
	}
	if ends.Sub(l.now()) <= 0 && !l.hasMistake(extendWithoutElapsed) {
		return fmt.Errorf("%w: extended too late", locks.ErrLost)
	}
	l.setEnd(ends)
	return nil
}

// A nodeKey is the key and the value of one attempt. Its methods send a request to one
// node, and report whether the node did what it was asked to do.
type nodeKey struct {
	maker
	key, value string
	ttl        time.Duration
}

// ttlArgument returns the TTL in milliseconds, as the nodes expect it.
func (c nodeKey) ttlArgument() int64 {
	if c.hasMistake(ttlInSeconds) {
		return int64(c.ttl / time.Second)
	}
	return c.ttl.Milliseconds()
}

// set sets the key if it is free.
func (c nodeKey) set(ctx context.Context, node *redis.Client) (bool, error) {
	err := node.Do(ctx, "SET", c.key, c.value, "NX", "PX", c.ttlArgument()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// remove removes the key if it has the attempt's value.
func (c nodeKey) remove(ctx context.Context, node *redis.Client) (bool, error) {
	n, err := removeScript.Run(ctx, node, []string{c.key}, c.value).Int()
	return n > 0, err
}

// extend gives the key a new TTL if it has the attempt's value.
func (c nodeKey) extend(ctx context.Context, node *redis.Client) (bool, error) {
	switch {
	case c.hasMistake(extendAnyKey):
		return node.PExpire(ctx, c.key, c.ttl).Result()
	case c.hasMistake(extendSets):
		n, err := setAgainScript.Run(ctx, node, []string{c.key}, c.value, c.ttlArgument()).Int()
		return n > 0, err
	}
	n, err := extendScript.Run(ctx, node, []string{c.key}, c.value, c.ttlArgument()).Int()
	return n > 0, err
}

var (
	removeScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
end
return 0`)
	extendScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("pexpire",KEYS[1],ARGV[2])
end
return 0`)
	// setAgainScript is a mistake: it also sets a key that has expired.
	setAgainScript = redis.NewScript(`local value = redis.call("get",KEYS[1])
if value == ARGV[1] or not value then
    redis.call("set",KEYS[1],ARGV[1],"PX",ARGV[2])
    return 1
end
return 0`)
)
