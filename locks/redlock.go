package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/internal/expiry"
)

// This file has Redlock as the Redis documentation specifies it.
//
// https://redis.io/docs/latest/develop/use/patterns/distributed-locks/
func init() {
	Register(Kind{
		Name:     "redlock",
		System:   Redis,
		Title:    "Redlock, as the Redis documentation specifies it",
		OwnClock: true,
		Accepts:  []string{"ask", "clock", "node-timeout"},
		Features: []string{
			"elapsed-check",         // the time that the requests took is subtracted from the lease
			"drift-allowance",       // some time is subtracted for the nodes' clocks
			"node-timeout",          // the wait for each node is bounded
			"release-on-all-nodes",  // without it, release only on the nodes that acknowledged the grant
			"release-after-failure", // a failed attempt removes what it has set
			"fresh-value",           // a new value for every attempt
			"value-check",           // release only the client's own key
			"extend",
		},
		Slots: onEveryNode,
		New:   newRedlock,
	})
}

// redlockNodeTimeout is at the upper end of what the specification suggests for a lock of
// ten seconds: 5 to 50 ms.
const redlockNodeTimeout = 50 * time.Millisecond

// redlockDrift returns the specification's allowance for the drift of clocks: "just a few
// milliseconds". In the reference implementation it is a hundredth of the TTL, plus 2 ms for
// the resolution of the nodes' expiry.
func redlockDrift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// redlock is a client's handle on the lock.
type redlock struct {
	env         *Env
	nodes       []*redis.Client
	nodeNumbers []int // the numbers of all nodes
	quorum      int
	validity    validity
	timeout     time.Duration // of each request to a node; 0 means none
	value       string        // of every claim; "" if each claim gets a new one
}

// newRedlock makes a handle for [Kind.New].
func newRedlock(e *Env) (Lock, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("redlock needs Redis nodes, but there are none")
	}
	drift := redlockDrift(e.TTL)
	if !e.Options.Has("drift-allowance") {
		drift = 0
	}
	l := &redlock{env: e, quorum: majority(len(e.Nodes)), validity: e.newValidity(drift)}
	if e.Options.Has("node-timeout") {
		l.timeout = e.Options.NodeTimeout
		if l.timeout == 0 {
			l.timeout = redlockNodeTimeout
		}
	}
	if !e.Options.Has("fresh-value") {
		value, err := e.newValue()
		if err != nil {
			return nil, err
		}
		l.value = value
	}
	l.nodes = patientClients(e)
	for i := range l.nodes {
		l.nodeNumbers = append(l.nodeNumbers, i)
	}
	return l, nil
}

// askNodes sends one request to each of some nodes, given by their numbers. With OneByOne,
// it asks the next node when the one before has answered or its time is up. With AllAtOnce,
// it asks all at the same time. In both cases it waits until every node has answered or its
// time is up. Libraries, in contrast, return when a quorum has answered.
func (l *redlock) askNodes(ctx context.Context, nodes []int, request func(context.Context, *redis.Client) (bool, error)) answers.Answers {
	replies := make(answers.Answers, len(nodes))
	askOne := func(i int) {
		bounded, cancel := withTimeout(ctx, l.env.Clock, l.timeout)
		defer cancel()
		yes, err := request(bounded, l.nodes[nodes[i]])
		replies[i] = answers.Answer{Node: nodes[i], Yes: yes && err == nil, Err: err}
	}
	if l.env.Options.Ask != AllAtOnce {
		for i := range nodes {
			askOne(i)
		}
		return replies
	}
	var requests sync.WaitGroup
	for i := range nodes {
		requests.Go(func() { askOne(i) })
	}
	requests.Wait()
	return replies
}

// Acquire tries once to set the key on every node. The lock is granted if a quorum of nodes
// has set it before the validity time of the grant has passed.
func (l *redlock) Acquire(ctx context.Context) (Lease, error) {
	c := claim{key: l.env.Key, value: l.value, ttl: l.env.TTL, unchecked: !l.env.Options.Has("value-check")}
	if c.value == "" {
		value, err := l.env.newValue()
		if err != nil {
			return nil, err
		}
		c.value = value
	}
	start := l.validity.now()
	replies := l.askNodes(ctx, l.nodeNumbers, c.set)
	left, ends := l.validity.remaining(start)
	grantingNodes := replies.YesNodes()
	if len(grantingNodes) >= l.quorum && left > 0 {
		lease := &redlockLease{lock: l, claim: c, grantingNodes: grantingNodes, End: expiry.At(ends)}
		if !l.env.Options.Has("extend") {
			return lease, nil
		}
		return extendableRedlockLease{lease}, nil
	}
	if l.env.Options.Has("release-after-failure") {
		l.cleanUp(ctx, c, grantingNodes)
	}
	err := fmt.Errorf("%w: %d of %d nodes granted it, at least %d are needed%s",
		ErrNotAcquired, len(grantingNodes), len(l.nodes), l.quorum, replies.Refusals("taken"))
	if len(grantingNodes) >= l.quorum {
		err = fmt.Errorf("%w: %d of %d nodes granted it, but %v too late",
			ErrNotAcquired, len(grantingNodes), len(l.nodes), -left)
	}
	return nil, answers.WithCause(ctx, err)
}

// cleanUp removes the claim of a failed attempt, because its keys would block all clients until
// they expire. If the caller's context has ended, cleanUp works in the background, provided that
// the requests have a timeout.
func (l *redlock) cleanUp(ctx context.Context, c claim, grantingNodes []int) {
	if answers.EndCause(ctx) == nil || l.timeout == 0 {
		l.release(ctx, c, grantingNodes)
		return
	}
	go l.release(context.WithoutCancel(ctx), c, grantingNodes)
}

// release removes a claim from all nodes, even from a node that returned an error, because that
// node may have set the key. Without the feature release-on-all-nodes, it asks only grantingNodes.
func (l *redlock) release(ctx context.Context, c claim, grantingNodes []int) answers.Answers {
	if l.env.Options.Has("release-on-all-nodes") {
		grantingNodes = l.nodeNumbers
	}
	return l.askNodes(ctx, grantingNodes, c.remove)
}

// A redlockLease is one grant. It ends when the lock's validity time has passed.
type redlockLease struct {
	lock          *redlock
	claim         claim
	grantingNodes []int // the nodes that acknowledged the claim
	expiry.End
}

// Release asks the nodes to remove the key. It returns nil only if a quorum removed it. The error
// wraps ErrLost if it is certain that fewer nodes than a quorum had the key.
func (l *redlockLease) Release(ctx context.Context) error {
	replies := l.lock.release(ctx, l.claim, l.grantingNodes)
	return l.checkQuorum(ctx, replies, "released")
}

// An extendableRedlockLease is the lease of a lock whose feature extend is on.
type extendableRedlockLease struct{ *redlockLease }

// Extend asks all nodes to extend the key, and counts answers as Acquire does. It must
// complete before the lease ends. After that, success would prove nothing: the key may have
// expired on a node, another client may have held the lock, and a late request of our
// acquire may have set the key again. If the error does not wrap ErrLost, some nodes may
// have extended the key.
func (l extendableRedlockLease) Extend(ctx context.Context) error {
	start := l.lock.validity.now()
	replies := l.lock.askNodes(ctx, l.lock.nodeNumbers, l.claim.extend)
	left, ends := l.lock.validity.remaining(start)
	if overdue := l.lock.validity.now().Sub(l.Expires()); overdue >= 0 && !l.lock.validity.unchecked {
		return fmt.Errorf("%w: extended on %d of %d nodes, but the lease had ended %v earlier",
			ErrLost, len(replies.YesNodes()), len(l.lock.nodes), overdue)
	}
	if err := l.checkQuorum(ctx, replies, "extended"); err != nil {
		return err
	}
	if left <= 0 {
		return fmt.Errorf("%w: extended on %d of %d nodes, but %v too late",
			ErrLost, len(replies.YesNodes()), len(l.lock.nodes), -left)
	}
	l.MoveTo(ends)
	return nil
}

// checkQuorum returns nil if a quorum of nodes carried out the request, and an error otherwise.
// action names the request in the error.
func (l *redlockLease) checkQuorum(ctx context.Context, replies answers.Answers, action string) error {
	yes, quorum := len(replies.YesNodes()), l.lock.quorum
	if yes >= quorum {
		return nil
	}
	summary := fmt.Sprintf("%s on %d of %d nodes, at least %d are needed%s", action, yes, len(l.lock.nodes), quorum, replies.Refusals("gone"))
	if !replies.MayHaveYes(quorum) {
		return fmt.Errorf("%w: %s", ErrLost, summary)
	}
	return answers.WithCause(ctx, errors.New("lock "+summary))
}
