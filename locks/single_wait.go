package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// The remedy for a failover that forgets a lock: a grant counts only once a
// replica has it too. That makes it less likely that the lock is lost, and no
// more, as the documentation of WAIT says itself: the failover may promote another
// replica than the one that confirmed, or one that has forgotten.
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
		New: variant(func(l *single) Lock {
			l.set = l.setAndWait
			return l
		}),
	})
}

// replicaTimeout is long beside the lag of a healthy replica.
const replicaTimeout = time.Second

// setAndWait removes the key again if no replica confirms it in time. An
// extension of the lease does not wait: if it is forgotten, the lock ends sooner
// than its holder believes.
func (l *single) setAndWait(ctx context.Context, c claim) (bool, error) {
	if granted, err := l.ask(ctx, c.set); err != nil || !granted {
		return false, err
	}
	// WAIT speaks of what was written on its own connection. The client's pool
	// hands out the one that was used last, so that is the one of the SET.
	confirmed, err := l.ask(ctx, waitForReplica)
	if err == nil && !confirmed {
		err = fmt.Errorf("no replica confirmed it within %v", replicaTimeout)
	}
	if err != nil {
		// What becomes of this request changes nothing for the caller.
		_, _ = l.release(ctx, c)
		return false, err
	}
	return true, nil
}

func waitForReplica(ctx context.Context, master *redis.Client) (bool, error) {
	replicas, err := master.Do(ctx, "WAIT", 1, replicaTimeout.Milliseconds()).Int()
	return replicas >= 1, err
}
