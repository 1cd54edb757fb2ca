package locks

import (
	"context"
	"sync"
)

// localLock is a lock of one process: nobody else knows of it, and it ends with the
// process.
type localLock struct {
	mu   sync.Mutex
	held bool
}

// take takes the lock and says whether it was free.
func (l *localLock) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := !l.held
	l.held = true
	return free
}

func (l *localLock) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = false
}

// breakerLease is what a circuit breaker grants, with Redis or without.
type breakerLease interface {
	Lease
	Expirer
	Extender
}

// localLease is one that holds the process's own lock as well.
type localLease struct {
	breakerLease
	lock *localLock
	once sync.Once
}

// Release frees the process's own lock whatever becomes of the other one.
func (l *localLease) Release(ctx context.Context) error {
	defer l.once.Do(l.lock.free)
	return l.breakerLease.Release(ctx)
}

// onlyLocalLease is one that nobody outside of the process has granted.
type onlyLocalLease struct{ *localLease }

// Token is 0: there is nobody who could issue one.
func (l onlyLocalLease) Token() uint64 { return 0 }
