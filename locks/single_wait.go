package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// The remedy for a failover that forgets a lock: a grant counts only once a replica has it
// too. That makes the loss of the lock less likely, but does not prevent it, as the
// documentation of WAIT says itself. The failover may promote another replica than the one
// that confirmed, or a replica that has forgotten the key.
//
// https://redis.io/docs/latest/commands/wait/
func init() {
	Register(Kind{
		Name:     "single-wait",
		System:   Redis,
		Title:    "as single, but a grant counts only if a replica has confirmed it (WAIT 1)",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "value-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New: newVariant(func(l *single) Lock {
			l.set = l.setAndWait
			return l
		}),
	})
}

// replicaTimeout is long compared with the lag of a healthy replica.
const replicaTimeout = time.Second

// setAndWait sets the key, and removes it again if no replica confirms it in time. An
// extension of the lease does not wait: if the extension is forgotten, the lock ends sooner
// than its holder believes.
func (l *single) setAndWait(ctx context.Context, c claim) (bool, error) {
	if granted, err := l.ask(ctx, c.set); err != nil || !granted {
		return false, err
	}
	// WAIT concerns what was written on its own connection. The client's pool returns the
	// connection that was used last, so that is the connection of the SET.
	confirmed, err := l.ask(ctx, waitForReplica)
	if err == nil && !confirmed {
		err = fmt.Errorf("no replica confirmed it within %v", replicaTimeout)
	}
	if err != nil {
		// The result of this request changes nothing for the caller.
		_, _ = l.release(ctx, c)
		return false, err
	}
	return true, nil
}

func waitForReplica(ctx context.Context, master *redis.Client) (bool, error) {
	replicas, err := master.Do(ctx, "WAIT", 1, replicaTimeout.Milliseconds()).Int()
	return replicas >= 1, err
}
