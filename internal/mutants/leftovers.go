package mutants

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// The mistakes by which a lock on a single node leaves its key on the node, or blocks by
// itself. The lock single also makes noCleanup, which is named in quorum.go because it is a
// mistake of the lock on a quorum, too.
const (
	releaseScriptBroken        mistake = "release-script-broken"
	releaseByDeadline          mistake = "release-under-acquires-deadline"
	releaseComparesWrongly     mistake = "release-compares-wrongly"
	releaseCancelled           mistake = "release-under-acquires-context"
	cleanupUnderCallersContext mistake = "cleanup-under-callers-context"
	mutexOfProcess             mistake = "mutex-of-process"
	releaseReportsLoss         mistake = "release-reports-loss"
	releaseRemovesTwice        mistake = "release-removes-twice"
	dropsKeyAndTells           mistake = "drops-key-and-tells"
	dropsKey                   mistake = "drops-key"
)

// leftoverMutants lists mutants of the lock on a single node: copies with one of these mistakes
// each.
func leftoverMutants() []Mutant {
	return []Mutant{
		onSingle(releaseScriptBroken, "the script that removes the key lacks its last word, and each release fails", "release fails"),
		onSingle(releaseByDeadline, "acquire sets a deadline of 0.8 TTLs, which also ends release", "release fails"),
		onSingle(releaseCancelled, "acquire cancels its context when it returns, and release runs under that context", "release fails"),
		onSingle(releaseComparesWrongly, "release compares the key with another value, and returns nil", "release-answer"),
		onSingle(cleanupUnderCallersContext, "a failed acquire removes its key under the caller's context, which may have ended", "key left behind"),
		onSingle(releaseReportsLoss, "release removes the key, and returns ErrLost", "release-answer"),
		onSingle(releaseRemovesTwice, "release removes the key, and then asks again and takes the answer for a loss", "release-answer"),
		onSingle(dropsKeyAndTells, "the lock removes its own key before the lease has ended, and notifies the holder of the loss", "claim: notifies"),
		onSingle(dropsKey, "the lock removes its own key before the lease has ended, and does not notify the holder", "lease-exclusion"),
		onSingle(noCleanup, "a failed acquire leaves its key behind", "key left behind"),
	}
}

// elusiveLeftovers lists the mutants of this file that an exploration (a search for faults by
// locktest.Explore) does not detect, because none of its workloads has two locks in one process.
// The suite, locktest.Run, detects them.
func elusiveLeftovers() []Mutant {
	return []Mutant{
		onSingle(mutexOfProcess, "a process has one mutex for the locks of all names", "hang"),
	}
}

// wrongReleaseContext returns the context under which release runs by mistake; nil if the
// lock makes no such mistake.
func (s *single) wrongReleaseContext(ctx context.Context) context.Context {
	switch {
	case s.hasMistake(releaseByDeadline):
		ctx, cancel := fakeclock.WithTimeout(ctx, s.env.Clock, s.env.TTL*4/5)
		s.env.Cleanup(cancel)
		return ctx
	case s.hasMistake(releaseCancelled):
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}
	return nil
}

// cleanupContext returns the context under which a failed acquire removes its key.
func (s *single) cleanupContext(ctx context.Context) context.Context {
	if s.hasMistake(cleanupUnderCallersContext) {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// removalScript returns the script by which release removes the key.
func (s *single) removalScript() *redis.Script {
	if s.hasMistake(releaseScriptBroken) {
		return brokenScript
	}
	return removeScript
}

// valueToRemove returns the value that the key must have for release to remove it.
func (l *singleLease) valueToRemove() string {
	if l.hasMistake(releaseComparesWrongly) {
		return l.env.Key
	}
	return l.value
}

// newMutex returns the mutex of the mistakes mutexOfProcess and keepsMutex: a process has only one
// mutex, for the locks of all names. It returns nil if the lock makes neither mistake.
func newMutex(env *locks.Env, m maker) chan struct{} {
	if !m.hasMistake(mutexOfProcess) && !m.hasMistake(keepsMutex) {
		return nil
	}
	return locks.Share(env, "mutants: mutex", func() chan struct{} { return make(chan struct{}, 1) })
}

// lockMutex locks the mutex, if the lock has one. It returns a function that unlocks it,
// and that may be called more than once.
func (s *single) lockMutex(ctx context.Context) (unlock func(), err error) {
	if s.mutex == nil {
		return func() {}, nil
	}
	select {
	case s.mutex <- struct{}{}:
		return sync.OnceFunc(func() { <-s.mutex }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// brokenScript is a mistake: removeScript without its last word, "end".
var brokenScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0`)
