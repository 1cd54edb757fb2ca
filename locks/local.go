package locks

import (
	"context"
	"sync"
)

// A localLock is a lock within one process: the fallback of the circuit breaker. No other
// process knows of it, and it ends with the process.
type localLock struct {
	mu   sync.Mutex
	held bool
}

// tryLock takes the lock if it is free, and reports whether it was free.
func (l *localLock) tryLock() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := !l.held
	l.held = true
	return free
}

func (l *localLock) unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = false
}

// A breakerLease is a lease of a circuit breaker, with or without Redis.
type breakerLease interface {
	Lease
	Expirer
	Extender
}

// A localLease is a lease of a circuit breaker that also holds the process's local lock.
type localLease struct {
	breakerLease
	lock *localLock
	once sync.Once
}

// Release releases the local lock even if the release of the other lock fails.
func (l *localLease) Release(ctx context.Context) error {
	defer l.once.Do(l.lock.unlock)
	return l.breakerLease.Release(ctx)
}

// An onlyLocalLease holds the process's local lock, but no lock on Redis.
type onlyLocalLease struct{ *localLease }

// Token returns 0: no server issued a token.
func (l onlyLocalLease) Token() uint64 { return 0 }
