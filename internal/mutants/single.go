package mutants

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// The mistakes of a lock on a single node. Two of them are also mistakes of locks in
// package locks: getThenDel of single-get-then-del, and setThenExpire of setnx-then-expire.
// The lock here has more features: it watches its lease, and has fencing tokens.
const (
	getThenDel           mistake = "get-then-del"
	getThenExpire        mistake = "get-then-expire"
	setThenExpire        mistake = "set-then-expire"
	ttlInMicroseconds    mistake = "ttl-in-microseconds"
	takesExpiringKey     mistake = "takes-what-expires"
	takesExpiredInSteps  mistake = "takes-expired-in-steps"
	timeoutIsYes         mistake = "timeout-is-yes"
	errorIsYes           mistake = "error-is-yes"
	leaseFromSecondTry   mistake = "lease-from-second-try"
	valueOfProcess       mistake = "value-of-process"
	secondReleaseDeletes mistake = "second-release-deletes"
	extendWithoutRequest mistake = "extend-only-says"
	noScriptIsYes        mistake = "no-script-is-yes"
	tokenBeforeLock      mistake = "token-before-lock"
	tokenOfHandle        mistake = "token-of-handle"
	tokenMissing         mistake = "token-missing"
	lossNotNotified      mistake = "loss-never-told"
	lossNotifiedLate     mistake = "loss-told-late"
	panicsOnReply        mistake = "panics-on-reply"
	panicsInGoroutine    mistake = "panics-elsewhere"
	leavesGoroutine      mistake = "leaves-goroutine"
	watchesAfterRelease  mistake = "watches-on"
	asksForEver          mistake = "asks-for-ever"
	spins                mistake = "spins"
	keyOfClient          mistake = "key-of-client"
	keyWithPrefix        mistake = "key-with-prefix"
	releasesOtherKey     mistake = "releases-other-key"
	extendsOtherKey      mistake = "extends-other-key"
)

// singleMutants lists the mutants of the lock on a single node, which make one mistake each. It
// leaves out those of leftovers.go and those in [Elusive].
func singleMutants() []Mutant {
	return []Mutant{
		onSingle(getThenDel, "release compares with one command and deletes with the next", "release-ownership"),
		onSingle(getThenExpire, "extend compares with one command and renews the key with the next", "release-ownership"),
		onSingle(setThenExpire, "the key gets its expiry by a second command", "progress"),
		onSingle(ttlInMicroseconds, "the TTL is sent in microseconds where the command takes milliseconds", "progress"),
		onSingle(takesExpiringKey, "acquire takes over a key that will soon expire", "release-ownership"),
		onSingle(timeoutIsYes, "acquire treats a missing answer as a success", "lease-exclusion"),
		onSingle(errorIsYes, "acquire treats an error of the node as a success", "lease-exclusion"),
		onSingle(valueOfProcess, "all handles of a process set the key to the same value, and each treats it as its own", "lease-exclusion"),
		onSingle(secondReleaseDeletes, "a second release deletes the key even if another client has set it", "release-ownership"),
		onSingle(extendWithoutRequest, "extend sends no request while half of the lease is left", "claim: extends"),
		onSingle(noScriptIsYes, "extend treats the error of a node that does not know the script as a success", "claim: extends"),
		onSingle(tokenBeforeLock, "the fencing token is minted before the lock is taken", "token-order"),
		onSingle(tokenOfHandle, "each handle counts its own fencing tokens", "token-order"),
		onSingle(tokenMissing, "there is no fencing token", "claim: tokens"),
		onSingle(lossNotNotified, "the holder is never notified of the loss of a lease", "claim: notifies"),
		onSingle(lossNotifiedLate, "the holder is notified of the loss of a lease two TTLs late", "claim: notifies"),
		onSingle(panicsOnReply, "an unexpected reply makes acquire panic", "panic"),
		onSingle(panicsInGoroutine, "an unexpected reply makes a goroutine of the lock panic", "panic"),
		onSingle(leavesGoroutine, "each grant leaves a goroutine behind for ever", "goroutine leak"),
		onSingle(watchesAfterRelease, "the lock keeps watching the key after release", "growing traffic"),
		onSingle(asksForEver, "the lock asks a node again until it answers, even after the context has ended", "hang"),
		onSingle(spins, "a refused attempt waits by reading the clock again and again", "hang"),
		onSingle(keyOfClient, "the key has the name of the client in it, so each client has a lock of its own", "lease-exclusion"),
		onSingle(keyWithPrefix, "the key has a prefix that the test of the lock does not name", "lease-exclusion"),
		onSingle(releasesOtherKey, "acquire sets one key, and release removes another, and takes that for a success", "release-answer"),
		onSingle(extendsOtherKey, "extend renews another key than the one that acquire has set, and takes that for a success", "lease-exclusion"),
	}
}

// single is a lock on one node. Its leases have fencing tokens and notify of their loss.
type single struct {
	oneNode
	value      string            // the value of every attempt, for the mistake valueOfProcess
	grantCount uint64            // how many grants the handle has had, for tokenOfHandle
	mutex      chan struct{}     // for the mistake mutexOfProcess; otherwise nil
	due        fakeclock.Reading // when the key that refused the last attempt expires, for takesExpiredInSteps
	isRefused  bool              // due is set
}

func newSingle(env *locks.Env, m maker) *single {
	s := &single{oneNode: newOneNode(env, m)}
	if s.hasMistake(valueOfProcess) {
		s.value = processValue(env)
	}
	s.mutex = newMutex(env, m)
	// If loading fails, the node gets the script when a lease is extended.
	_ = extendScript.Load(s.lifetime, s.node).Err()
	return s
}

// processValues has the single value of each process, for the mistake valueOfProcess.
var processValues sync.Map

// processValue returns the single value of the process that env belongs to.
func processValue(env *locks.Env) string {
	value, known := processValues.LoadOrStore(env, newValue(env))
	if !known {
		env.Cleanup(func() { processValues.Delete(env) })
	}
	return value.(string)
}

// counter returns the name of the key in which the node counts grants, for the tokens.
func (s *single) counter() string { return s.env.Key + ":token" }

// Acquire makes one attempt.
func (s *single) Acquire(ctx context.Context) (locks.Lease, error) {
	value := newValue(s.env)
	if s.hasMistake(valueOfProcess) {
		value = s.value
	}
	unlock, err := s.lockMutex(ctx)
	if err != nil {
		return nil, err
	}
	start := s.now()
	token, err := s.take(ctx, value)
	if err != nil && s.hasMistake(leaseFromSecondTry) {
		start = s.now()
		token, err = s.take(ctx, value)
	}
	ends := start.Add(s.env.TTL)
	l := &singleLease{
		single: s, value: value, token: token, ending: ending{end: ends},
		lost: make(chan struct{}), stopped: make(chan struct{}),
		releaseContext: s.wrongReleaseContext(ctx), unlock: unlock,
	}
	if err != nil || token > 0 && ends.Sub(s.now()) <= 0 {
		// Clean up even if the caller's context has ended.
		if !s.hasMistake(noCleanup) {
			_, _ = l.remove(s.cleanupContext(ctx))
		}
		unlock()
		return nil, fmt.Errorf("%w: the node gave no answer in time", locks.ErrNotAcquired)
	}
	if token == 0 {
		for s.hasMistake(spins) && s.now().Sub(start) < time.Second {
		}
		unlock()
		return nil, fmt.Errorf("%w: another client holds it", locks.ErrNotAcquired)
	}
	watchContext, stop := context.WithCancel(s.lifetime)
	l.stop = stop
	if s.hasMistake(watchesAfterRelease) {
		watchContext = s.lifetime
	}
	go l.watch(watchContext)
	return l, nil
}

// takeScript sets the key and mints the token. It also succeeds if the key already has the
// attempt's value: then the Redis client has sent the request twice.
var takeScript = redis.NewScript(`if redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) or redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("incr",KEYS[2])
end
return 0`)

// takeForEverScript is a mistake: it sets the key without an expiry.
var takeForEverScript = redis.NewScript(`if redis.call("set",KEYS[1],ARGV[1],"NX") then
    return redis.call("incr",KEYS[2])
end
return 0`)

// overwriteScript is a mistake: it sets the key even if it is not free.
var overwriteScript = redis.NewScript(`redis.call("set",KEYS[1],ARGV[1],"PX",ARGV[2])
return redis.call("incr",KEYS[2])`)

// take sets the key if it is free. It returns the grant's fencing token, or 0 if the key is
// not free.
func (s *single) take(ctx context.Context, value string) (token uint64, err error) {
	key, ttl, script := s.key(), s.env.TTL.Milliseconds(), takeScript
	earlyToken := uint64(0)
	switch {
	case s.hasMistake(takesExpiredInSteps):
		if s.isRefused && s.now().Sub(s.due) >= 0 && s.node.Exists(ctx, key).Val() == 0 {
			script = overwriteScript
		}
		defer func() {
			left, leftErr := s.node.PTTL(ctx, key).Result()
			s.due, s.isRefused = s.now().Add(left), err == nil && token == 0 && leftErr == nil && left > 0
		}()
	case s.hasMistake(tokenBeforeLock):
		earlyToken, _ = s.node.Incr(ctx, s.counter()).Uint64()
	case s.hasMistake(takesExpiringKey):
		if left := s.node.PTTL(ctx, key).Val(); left > 0 && left < s.env.TTL/10 {
			s.node.Del(ctx, key)
		}
	case s.hasMistake(ttlInMicroseconds):
		ttl = s.env.TTL.Microseconds()
	case s.hasMistake(setThenExpire):
		script = takeForEverScript
		defer func() {
			if token > 0 {
				s.node.PExpire(ctx, key, s.env.TTL)
			}
		}()
	}
	err = s.ask(ctx, func(ctx context.Context) error {
		reply, err := script.Run(ctx, s.node, []string{key, s.counter()}, value, ttl).Result()
		n, ok := reply.(int64)
		if !ok && s.hasMistake(panicsOnReply) {
			panic(fmt.Sprintf("the node has answered %v", reply))
		}
		token = uint64(n)
		return err
	})
	switch {
	case s.hasMistake(timeoutIsYes) && isTimeout(err), s.hasMistake(errorIsYes) && isAnswer(err):
		return 1, nil
	case s.hasMistake(tokenOfHandle) && token > 0:
		s.grantCount++
		return s.grantCount, nil
	case s.hasMistake(tokenBeforeLock) && token > 0:
		return earlyToken, nil
	}
	return token, err
}

// isTimeout reports whether an error means that no answer came in time.
func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

// isAnswer reports whether an error is an answer of the node.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// A singleLease is a lease of the lock single, which watches its key.
type singleLease struct {
	*single
	value string
	token uint64
	lost  chan struct{}
	// stop ends the goroutine that watches the key. stopped is closed when it has ended.
	stop    context.CancelFunc
	stopped chan struct{}
	// releaseContext is the context under which release runs by mistake; nil if the lock
	// makes no such mistake.
	releaseContext context.Context
	unlock         func() // unlocks the mutex, if there is one

	ending
	isReleased bool // a first release has begun; guarded by mu
}

// Token returns the number of grants that the node has counted, including this one.
func (l *singleLease) Token() uint64 {
	if l.hasMistake(tokenMissing) {
		return 0
	}
	return l.token
}

// remaining returns how long the lease still lasts.
func (l *singleLease) remaining() time.Duration { return l.Expires().Sub(l.now()) }

// Lost returns a channel that is closed when the lease has ended or its key no longer has
// the lease's value.
func (l *singleLease) Lost() <-chan struct{} { return l.lost }

// watch checks the key until the lease is released, ends or is lost.
func (l *singleLease) watch(ctx context.Context) {
	if l.hasMistake(leavesGoroutine) {
		defer func() { <-make(chan struct{}) }()
	}
	defer close(l.stopped)
	for l.remaining() > 0 || l.hasMistake(watchesAfterRelease) {
		remaining := l.remaining()
		if remaining <= 0 { // a mistake: the lease has ended, and it is watched anyway
			remaining = time.Second
		}
		if l.env.Clock.Sleep(ctx, min(remaining, l.env.TTL/4)) != nil {
			return
		}
		if left := l.remaining(); 0 < left && left < l.env.TTL*2/5 && (l.hasMistake(dropsKey) || l.hasMistake(dropsKeyAndTells)) {
			_, _ = l.remove(ctx)
			if l.hasMistake(dropsKey) && l.env.Clock.Sleep(ctx, l.remaining()) != nil {
				return
			}
			break
		}
		if !l.ownsKey(ctx) && !l.hasMistake(watchesAfterRelease) {
			break
		}
	}
	if l.hasMistake(lossNotifiedLate) && l.env.Clock.Sleep(ctx, 2*l.env.TTL) != nil {
		return
	}
	if ctx.Err() == nil && !l.hasMistake(lossNotNotified) {
		close(l.lost)
	}
}

// ownsKey reports whether the key still has the lease's value. It waits for an answer until
// the lease ends. If no answer comes, it reports true: the lock may still be held.
func (l *singleLease) ownsKey(ctx context.Context) (yes bool) {
	if remaining := l.remaining(); !l.hasMistake(watchesAfterRelease) {
		if remaining <= 0 {
			return false
		}
		leaseContext, cancel := fakeclock.WithTimeout(ctx, l.env.Clock, remaining)
		defer cancel()
		ctx = leaseContext
	}
	err := l.ask(ctx, func(ctx context.Context) error {
		value, err := l.node.Get(ctx, l.key()).Result()
		if err != nil && l.hasMistake(panicsInGoroutine) {
			panic("the node has not answered with a value")
		}
		yes = value == l.value
		return err
	})
	return yes || err != nil && !errors.Is(err, redis.Nil)
}

// Release removes the key.
func (l *singleLease) Release(ctx context.Context) error {
	l.stop()
	defer l.unlock()
	if l.releaseContext != nil {
		ctx = l.releaseContext
	}
	l.mu.Lock()
	isSecond := l.isReleased
	l.isReleased = true
	l.mu.Unlock()
	if isSecond && l.hasMistake(secondReleaseDeletes) {
		return l.node.Del(ctx, l.env.Key).Err()
	}
	removed, err := l.remove(ctx)
	if l.hasMistake(releaseRemovesTwice) && err == nil {
		removed, err = l.remove(ctx)
	}
	if l.hasMistake(releaseReportsLoss) {
		removed = false
	}
	return releaseError(removed || l.hasMistake(releaseComparesWrongly), err)
}

// remove removes the key if it has the lease's value.
func (l *singleLease) remove(ctx context.Context) (removed bool, err error) {
	if l.hasMistake(releasesOtherKey) {
		return true, l.node.Del(ctx, "lock:"+l.env.Key).Err()
	}
	if !l.hasMistake(getThenDel) {
		return l.run(ctx, l.removalScript(), l.valueToRemove())
	}
	err = l.ask(ctx, func(ctx context.Context) error {
		value, err := l.node.Get(ctx, l.key()).Result()
		if err != nil || value != l.value {
			return err
		}
		removed = true
		return l.node.Del(ctx, l.env.Key).Err()
	})
	return removed, err
}

// Extend gives the key a new TTL and the lease a new end.
func (l *singleLease) Extend(ctx context.Context) error {
	start := l.now()
	extended, err := l.extendKey(ctx)
	return l.finishExtend(start.Add(l.env.TTL), l.now(), extended, err)
}

// extendKey gives the key a new TTL if it has the lease's value.
func (l *singleLease) extendKey(ctx context.Context) (extended bool, err error) {
	keys, ttl := []string{l.key()}, l.env.TTL.Milliseconds()
	err = l.ask(ctx, func(ctx context.Context) error {
		switch {
		case l.hasMistake(extendsOtherKey):
			extended = true
			return l.node.PExpire(ctx, "lock:"+l.env.Key, l.env.TTL).Err()
		case l.hasMistake(extendWithoutRequest) && l.remaining() > l.env.TTL/2:
			extended = true
			return nil
		case l.hasMistake(getThenExpire):
			value, err := l.node.Get(ctx, keys[0]).Result()
			if err != nil || value != l.value {
				return err
			}
			extended, err = l.node.PExpire(ctx, keys[0], l.env.TTL).Result()
			return err
		}
		n, err := extendScript.EvalSha(ctx, l.node, keys, l.value, ttl).Int()
		if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
			if l.hasMistake(noScriptIsYes) {
				n, err = 1, extendScript.Load(ctx, l.node).Err()
			} else {
				n, err = extendScript.Eval(ctx, l.node, keys, l.value, ttl).Int()
			}
		}
		extended = n > 0
		return err
	})
	return extended, err
}
