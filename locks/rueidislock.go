package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func init() {
	Register(Kind{
		Name:  "rueidislock",
		Title: "github.com/redis/rueidis/rueidislock, unmodified, on rueidis's defaults: it sends again, and pings",
		Slots: rueidislockSlots,
		New:   func(e *Env) (Lock, error) { return newRueidislock(e, func(*rueidis.ClientOption) {}) },
	})
	Register(Kind{
		Name:  "rueidislock-strict",
		Title: "as rueidislock, but each command is sent once, and the connection is not pinged",
		Slots: rueidislockSlots,
		New: func(e *Env) (Lock, error) {
			return newRueidislock(e, func(o *rueidis.ClientOption) {
				o.DisableRetry = true
				o.Dialer = net.Dialer{KeepAlive: -1}
			})
		},
	})
}

// The library's defaults.
const (
	rueidislockPrefix   = "rueidislock"
	rueidislockMajority = 2
)

// rueidislockSlots are the keys of one lock. All are on one node: more than one
// key makes a difference on a cluster only, where each may be on another node.
func rueidislockSlots(key string, _ int) (slots []Slot, quorum int) {
	for i := range 2*rueidislockMajority - 1 {
		slots = append(slots, Slot{Key: fmt.Sprintf("%s:%d:%s", rueidislockPrefix, i, key)})
	}
	return slots, rueidislockMajority
}

// rueidislockLock is rueidislock with its defaults, except that the nodes do not
// tell it which keys have changed: so it learns of a lost key when it prolongs it,
// every half TTL.
type rueidislockLock struct {
	env    *Env
	locker rueidislock.Locker
	// life is until Env.Close, and leases counts those that the library still has
	// goroutines for.
	life   context.Context
	leases sync.WaitGroup
}

func newRueidislock(e *Env, set func(*rueidis.ClientOption)) (Lock, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("rueidislock needs a Redis node, but there is none")
	}
	option := e.rueidisOption(0)
	set(&option)
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:  option,
		ClientBuilder: e.OpenRueidis,
		KeyPrefix:     rueidislockPrefix,
		KeyMajority:   rueidislockMajority,
		KeyValidity:   e.TTL,
	})
	if err != nil {
		return nil, err
	}
	l := &rueidislockLock{env: e, locker: locker}
	var end context.CancelFunc
	l.life, end = context.WithCancel(context.Background())
	e.Cleanup(func() {
		end()
		l.leases.Wait()
		locker.Close()
	})
	return l, nil
}

// Acquire tries once. The context is for the attempt only: to the library, it
// would be the lock's, which its end would release.
func (l *rueidislockLock) Acquire(ctx context.Context) (Lease, error) {
	life, cancel := context.WithCancel(l.life)
	attempt := context.AfterFunc(ctx, cancel)
	held, release, err := l.locker.TryWithContext(life, l.env.Key)
	attempt()
	if err != nil {
		cancel()
		return nil, because(ctx, fmt.Errorf("%w: rueidislock: %s", ErrNotAcquired, rueidislockSaid(err)))
	}
	l.leases.Go(func() {
		<-held.Done()
		release() // waits for the goroutines
		cancel()
	})
	lease := &rueidislockLease{lost: make(chan struct{}), release: release}
	lease.keep = context.AfterFunc(held, func() { close(lease.lost) })
	return lease, nil
}

func rueidislockSaid(err error) string {
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return "a key is held by others"
	}
	return "too few keys (" + rueidisReason(err) + ")"
}

// rueidislockLease prolongs itself, without telling of it, until the library
// finds out that it has lost most of its keys.
type rueidislockLease struct {
	// lost is closed when the library ends the lock's context, which it does too
	// when the lock is released: then keep has been called before. It reports
	// whether the lock had not ended.
	lost    chan struct{}
	keep    func() bool
	release func()
}

// Lost is as in [Notifier].
func (l *rueidislockLease) Lost() <-chan struct{} { return l.lost }

// Release is the library's cancel, which waits until it has given up deleting
// the keys. It does not tell whether it could.
func (l *rueidislockLease) Release(context.Context) error {
	held := l.keep()
	l.release()
	if !held {
		return ErrLost
	}
	return nil
}
