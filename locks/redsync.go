package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/locksim/locksim/fakeclock"
)

func init() {
	const name = "github.com/go-redsync/redsync, unmodified"
	for _, k := range []struct {
		name, title string
		profile     profile
		lock        func(*redsync.Mutex, context.Context) error
	}{
		{"redsync", name + ": one try, strict go-redis", strict, (*redsync.Mutex).TryLockContext},
		{"redsync-retrying", name + ": its own 32 tries, strict go-redis", strict, (*redsync.Mutex).LockContext},
		{"redsync-defaults", name + ": its own 32 tries, go-redis's own defaults", deployed, (*redsync.Mutex).LockContext},
	} {
		Register(Kind{
			Name:  k.name,
			Title: k.title,
			Slots: onEveryNode,
			New: func(e *Env) (Lock, error) {
				if len(e.Nodes) == 0 {
					return nil, errors.New(k.name + " needs Redis nodes, but there are none")
				}
				var pools []redsyncredis.Pool
				for i := range e.Nodes {
					pools = append(pools, goredis.NewPool(k.profile(e, i)))
				}
				return &redsyncLock{e, redsync.New(pools...), k.lock}, nil
			},
		})
	}
}

// redsyncLock is redsync with its defaults, except that an attempt may be one try:
// then the caller decides when to try again.
type redsyncLock struct {
	env     *Env
	redsync *redsync.Redsync
	lock    func(*redsync.Mutex, context.Context) error
}

func (l *redsyncLock) Acquire(ctx context.Context) (Lease, error) {
	m := l.redsync.NewMutex(l.env.Key, redsync.WithExpiry(l.env.TTL), redsync.WithRetryDelayFunc(l.delay))
	if err := l.lock(m, ctx); err != nil {
		said := redsyncSaid(err)
		return nil, because(ctx, fmt.Errorf("%w: redsync did not get a quorum in time%s", ErrNotAcquired, said.but("taken")))
	}
	return &redsyncLease{mutex: m, nodes: len(l.env.Nodes), ends: redsyncEnds(m)}, nil
}

// delay is redsync's own pause between two tries, 50 ms to 250 ms, but drawn from
// the process's own source: redsync's is shared by all goroutines of the program.
func (l *redsyncLock) delay(int) time.Duration {
	more, err := upTo(200*time.Millisecond, l.env.Rand)
	if err != nil {
		panic(err) // Env.Rand never fails
	}
	return 50*time.Millisecond + more - 1
}

type redsyncLease struct {
	mutex *redsync.Mutex
	nodes int

	mu   sync.Mutex
	ends fakeclock.Reading
}

// redsyncEnds is when redsync believes that the lock ends. It computes that with
// time.Now, which in a simulated world is true time and not the process's clock.
func redsyncEnds(m *redsync.Mutex) fakeclock.Reading {
	return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: m.Until().UnixNano()}
}

// Expires is redsync's Until, on the wall clock.
func (l *redsyncLease) Expires() fakeclock.Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends
}

func (l *redsyncLease) Release(ctx context.Context) error {
	if ok, err := l.mutex.UnlockContext(ctx); !ok {
		return l.failure(ctx, err, "released")
	}
	return nil
}

func (l *redsyncLease) Extend(ctx context.Context) error {
	if ok, err := l.mutex.ExtendContext(ctx); !ok {
		return l.failure(ctx, err, "extended")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = redsyncEnds(l.mutex)
	return nil
}

// failure is redsync's error in words that do not depend on the order of its
// goroutines. It wraps ErrLost if a quorum cannot have had the key, or if the
// extension came too late.
func (l *redsyncLease) failure(ctx context.Context, err error, done string) error {
	said := redsyncSaid(err)
	gone := 0
	for _, answer := range said {
		if answer.err == nil {
			gone++
		}
	}
	gone += redsyncExpired(err)
	what := "redsync: not " + done + said.but("gone")
	if l.nodes-gone < majority(l.nodes) || errors.Is(err, redsync.ErrExtendFailed) {
		return fmt.Errorf("%w: %s", ErrLost, what)
	}
	return because(ctx, errors.New(what))
}

// redsyncSaid finds, in the error that redsync has joined in the order in which
// the nodes answered, what each node said.
func redsyncSaid(err error) answers {
	var said answers
	walk(err, func(err error) {
		switch err := err.(type) {
		case *redsync.ErrTaken:
			for _, node := range err.Nodes {
				said = append(said, answer{node: node})
			}
		case *redsync.ErrNodeTaken:
			said = append(said, answer{node: err.Node})
		case *redsync.RedisError:
			said = append(said, answer{node: err.Node, err: err.Err})
		}
	})
	said.sort()
	return said
}

// redsyncExpired counts the nodes where the key had expired; redsync does not
// say which.
func redsyncExpired(err error) (nodes int) {
	walk(err, func(err error) {
		if err == redsync.ErrLockAlreadyExpired {
			nodes++
		}
	})
	return nodes
}

// walk visits the errors that were joined into one.
func walk(err error, visit func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			walk(err, visit)
		}
		return
	}
	visit(err)
}
