// Package lock is a lock on a ZooKeeper ensemble.
package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// ErrNotAcquired is returned by Acquire if another client holds the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrLost is returned by Release if the lock was lost before: another client may hold it.
var ErrLost = errors.New("lock was lost")

// A Lock is a node of ZooKeeper. The client that creates it holds the lock. The node is
// ephemeral: it disappears with the session of that client.
type Lock struct {
	zookeeper *zk.Conn
	path      string
	ttl       time.Duration

	closed context.Context
	close  context.CancelFunc
}

// maxTTL is the longest timeout of a session that servers grant by default: 20 ticks of
// 2 s. A session that asks for more gets this timeout.
const maxTTL = 40 * time.Second

// New returns a handle on the lock with this path. A lease of it lasts for one TTL, which
// must not be longer than the timeout of the session. Call Close at the end.
func New(conn *zk.Conn, path string, ttl time.Duration) (*Lock, error) {
	if ttl > maxTTL {
		return nil, fmt.Errorf("a TTL of %v is longer than a session can last without contact, %v", ttl, maxTTL)
	}
	closed, cancel := context.WithCancel(context.Background())
	return &Lock{conn, path, ttl, closed, cancel}, nil
}

// Close ends removals that still run in the background. The end of the session removes
// what they would have removed.
func (l *Lock) Close() { l.close() }

// Acquire tries once to acquire the lock.
func (l *Lock) Acquire(ctx context.Context) (*Lease, error) {
	// The lease ends one TTL after this moment. The session is alive when a majority creates
	// the node, which is later, so the node is there for longer.
	lease := &Lease{lock: l, word: rand.Text(), expires: time.Now().Add(l.ttl)}
	_, err := l.zookeeper.Create(l.path, []byte(lease.word), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	switch {
	case errors.Is(err, zk.ErrNodeExists):
		return nil, ErrNotAcquired
	case err == nil && time.Now().Before(lease.expires) && ctx.Err() == nil:
		return lease, nil
	case err == nil:
		err = ErrNotAcquired // the answer arrived too late
	}
	// The node may exist although the answer is an error.
	go lease.remove()
	return nil, err
}

// A Lease is the right to work under the lock. It ends one TTL after the call of Acquire.
type Lease struct {
	lock    *Lock
	word    string
	expires time.Time
}

// Expires returns the end of the lease. The holder must have stopped its work by then.
func (l *Lease) Expires() time.Time { return l.expires }

// Release releases the lock. If ctx ends first, the removal continues in the background: a
// node that is left behind exists as long as the session of this process.
func (l *Lease) Release(ctx context.Context) error {
	removed := make(chan error, 1)
	go func() { removed <- l.remove() }()
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remove removes the node if this lease has created it. It tries until a server answers, or
// until the lock is closed.
func (l *Lease) remove() error {
	for tried := false; ; {
		word, stat, err := l.lock.zookeeper.Get(l.lock.path)
		isOwn := err == nil && string(word) == l.word
		switch {
		case isOwn:
			// Between the two requests another client can only create the node if this session
			// has ended, and then this request fails.
			err = l.lock.zookeeper.Delete(l.lock.path, stat.Version)
			tried = true
			if err == nil {
				return nil
			}
		case tried && (err == nil || errors.Is(err, zk.ErrNoNode)):
			return nil // an earlier try has removed it, and its answer was lost
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return ErrLost
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-l.lock.closed.Done():
			return err
		}
	}
}
