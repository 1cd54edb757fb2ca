package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// This variant tries to survive a failover that forgets a key: a grant counts only once a
// replica has confirmed it. The loss of the lock becomes less likely, but stays possible,
// as the documentation of WAIT itself says. The failover may promote another replica than
// the one that confirmed, or a replica that has since forgotten the key.
//
// https://redis.io/docs/latest/commands/wait/
func init() {
	Register(Kind{
		Name:            "single-wait",
		System:          Redis,
		Title:           "as single, but a grant counts only if a replica has confirmed it (WAIT 1)",
		OwnClock:        true,
		ConfirmedWithin: replicaTimeout,
		Accepts:         []string{"clock", "node-timeout"},
		Features:        []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:           onFirstNode,
		New: newVariant(func(l *single) Lock {
			l.set = l.setAndWait
			return l
		}),
	})
}

// replicaTimeout is how long WAIT waits: much longer than the lag of a healthy replica.
const replicaTimeout = time.Second

// setAndWait sets the key, and removes it again if no replica confirms it in time. Only
// acquire waits for a replica; an extension of the lease does not. If a failover forgets an
// extension, the lock ends sooner than its holder believes.
func (l *single) setAndWait(ctx context.Context, c claim) (bool, error) {
	if granted, err := l.ask(ctx, c.set); err != nil || !granted {
		return false, err
	}
	// WAIT waits only for writes on its own connection. The client's pool returns the
	// connection that was used last, which is the connection of the SET.
	confirmed, err := l.ask(ctx, waitForReplica)
	if err == nil && !confirmed {
		err = fmt.Errorf("no replica confirmed it within %v", replicaTimeout)
	}
	if err != nil {
		// The attempt has failed, whatever the result of this request is.
		_, _ = l.release(ctx, c)
		return false, err
	}
	return true, nil
}

// waitForReplica reports whether a replica has confirmed what the connection has written.
func waitForReplica(ctx context.Context, master *redis.Client) (bool, error) {
	replicas, err := master.Do(ctx, "WAIT", 1, replicaTimeout.Milliseconds()).Int()
	return replicas >= 1, err
}
