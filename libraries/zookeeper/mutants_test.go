package zookeeper_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/libraries/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A nodeLock is a lock of a single ephemeral node, as somebody writes it without a library. It
// makes at most one mistake.
type nodeLock struct {
	conn    *zk.Conn
	path    string
	client  string
	ttl     time.Duration
	closed  <-chan struct{}
	mistake string
}

func (l *nodeLock) makes(mistake string) bool { return l.mistake == mistake }

func (l *nodeLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease := &nodeLease{lock: l, word: rand.Text(), expires: time.Now().Add(l.ttl)}
	if l.makes("one-value") {
		lease.word = l.client
	}
	if l.makes("twice-the-ttl") {
		lease.expires = lease.expires.Add(l.ttl)
	}
	err := l.create(lease)
	isLate := !time.Now().Before(lease.expires)
	switch {
	case errors.Is(err, zk.ErrNodeExists) && !l.makes("refusal-is-yes"):
		return nil, locks.ErrNotAcquired
	case errors.Is(err, zk.ErrNodeExists), err != nil && l.makes("error-is-yes"):
		return lease, nil
	case err == nil && (!isLate || l.makes("no-elapsed-check")) && (ctx.Err() == nil || l.makes("ignores-context")):
		return lease, nil
	case err == nil:
		err = locks.ErrNotAcquired
	}
	if !l.makes("no-cleanup") {
		go lease.remove()
	}
	return nil, err
}

// create creates the node.
func (l *nodeLock) create(lease *nodeLease) error {
	flags := int32(zk.FlagEphemeral)
	if l.makes("no-session") {
		flags = 0
	}
	if l.makes("removes-first") {
		_ = l.conn.Delete(l.path, -1)
	}
	_, err := l.conn.Create(l.path, []byte(lease.word), flags, zk.WorldACL(zk.PermAll))
	return err
}

type nodeLease struct {
	lock    *nodeLock
	word    string // the value of the node
	expires time.Time
}

func (l *nodeLease) Expires() time.Time { return l.expires }

func (l *nodeLease) Release(ctx context.Context) error {
	if l.lock.makes("release-does-nothing") {
		return nil
	}
	removed := make(chan error, 1)
	go func() { removed <- l.remove() }()
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errLost = errors.New("lock was lost")

// remove removes the node if this client has created it. Except in one mistake, it tries until
// a server answers.
func (l *nodeLease) remove() error {
	for tried := false; ; {
		word, stat, err := l.lock.conn.Get(l.lock.path)
		switch {
		case err == nil && (string(word) == l.word || l.lock.makes("deletes-any-node")):
			err = l.lock.conn.Delete(l.lock.path, stat.Version)
			tried = true
			if err == nil {
				return nil
			}
		case tried && (err == nil || errors.Is(err, zk.ErrNoNode)):
			return nil
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return errLost
		}
		if l.lock.makes("tries-once") {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-l.lock.closed:
			return err
		}
	}
}

// The suite finds what each of these locks does wrong, and reports it as that.
func TestMutants(t *testing.T) {
	config := locktest.Config{System: locks.ZooKeeper}
	suites.CheckMutants(t, config, []suites.Mutant{
		{Mistake: "removes-first", Reported: "acquire removes the key of another acquisition"},
		{Mistake: "refusal-is-yes", Reported: "acquire grants the lock although the server did not"},
		{Mistake: "one-value", Reported: "release removes the key of another acquisition"},
		{Mistake: "error-is-yes", Reported: "acquire grants the lock although the server did not"},
		{Mistake: "no-session", Reported: "acquire leaves a key that never expires"},
		{Mistake: "twice-the-ttl", Reported: "acquire promises a lease that ends later than its key"},
		{Mistake: "no-elapsed-check", Reported: "acquire returns a lease that has already ended"},
		{Mistake: "no-cleanup", Reported: "acquire fails and leaves its key behind"},
		{Mistake: "deletes-any-node", Reported: "release removes the key of another acquisition"},
		{Mistake: "release-does-nothing", Reported: "release reports success and leaves its key behind"},
		{Mistake: "tries-once", Reported: "release reports success and leaves its key behind", ReportsLoss: true},
	}, func(mistake string) locktest.New {
		return func(env *locktest.Env) (locks.Lock, error) {
			session, err := zookeeper.Open(env.Base())
			switch {
			case err != nil:
				return nil, err
			case env.TTL() > 40*time.Second: // a session lasts for 20 ticks of 2 s without contact, and not longer
				return nil, errors.New("the TTL is longer than a session can last")
			}
			ctx, cancel := context.WithCancel(context.Background())
			env.Cleanup(cancel)
			return &nodeLock{session.Conn, locks.ZooKeeperPath(env.Key()), env.Base().Client, env.TTL(), ctx.Done(), mistake}, nil
		}
	})
}
