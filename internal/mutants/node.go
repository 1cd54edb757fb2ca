package mutants

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// oneNode is the part that the locks on a single node share: it sends requests to the node.
type oneNode struct {
	maker
	env      *locks.Env
	node     *redis.Client
	lifetime context.Context // ends with the process
}

func newOneNode(env *locks.Env, m maker) oneNode {
	lifetime, end := context.WithCancel(context.Background())
	env.Cleanup(end)
	return oneNode{maker: m, env: env, node: locks.RedisClient(env, 0), lifetime: lifetime}
}

func (o *oneNode) now() fakeclock.Reading { return o.env.Clock.Read(fakeclock.Monotonic) }

// ask makes one request, with a timeout of a tenth of the TTL. A lock with the mistake
// asksForEver repeats it until it succeeds.
func (o *oneNode) ask(ctx context.Context, request func(context.Context) error) error {
	bounded, cancel := fakeclock.WithTimeout(ctx, o.env.Clock, o.env.TTL/10)
	defer cancel()
	err := request(bounded)
	for o.hasMistake(asksForEver) && err != nil && o.env.Clock.Sleep(o.lifetime, time.Second) == nil {
		err = request(o.lifetime)
	}
	return err
}

// key returns the name of the key in which a client asks for the lock.
func (o *oneNode) key() string {
	switch {
	case o.hasMistake(keyOfClient):
		return o.env.Key + ":" + o.env.Client
	case o.hasMistake(keyWithPrefix):
		return "lock:" + o.env.Key
	}
	return o.env.Key
}

// run runs a script on the key. done reports whether the script found the key as expected
// and changed it.
func (o *oneNode) run(ctx context.Context, script *redis.Script, args ...any) (done bool, err error) {
	err = o.ask(ctx, func(ctx context.Context) error {
		n, err := script.Run(ctx, o.node, []string{o.key()}, args...).Int()
		done = n > 0
		return err
	})
	return done, err
}

// releaseError returns the error of a release. removed says whether the node removed the key, and
// err is the error of the request.
func releaseError(removed bool, err error) error {
	switch {
	case err != nil:
		return errors.New("not released: the node gave no answer in time")
	case !removed:
		return fmt.Errorf("%w before it was released", locks.ErrLost)
	}
	return nil
}

// ending is the time at which a lease ends. Each renewal or extend sets a new one.
type ending struct {
	mu  sync.Mutex
	end fakeclock.Reading
}

// Expires returns when the lease ends.
func (e *ending) Expires() fakeclock.Reading {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.end
}

func (e *ending) setEnd(end fakeclock.Reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end = end
}

// finishExtend sets a new end, or returns the error of an extend. It keeps the old end if
// the node failed or refused, or if the new end has already passed.
func (e *ending) finishExtend(end, now fakeclock.Reading, extended bool, err error) error {
	switch {
	case err != nil:
		return errors.New("not extended: the node gave no answer in time")
	case !extended:
		return fmt.Errorf("%w before it was extended", locks.ErrLost)
	case end.Sub(now) <= 0:
		return fmt.Errorf("%w: extended too late", locks.ErrLost)
	}
	e.setEnd(end)
	return nil
}
