package mutants

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
)

// These are mistakes of a lock on a single node. Because of them, the lock touches keys of other
// acquisitions, or does something else wrong that has many consequences. A report must describe
// each mistake only once.
const (
	comparesPrefix      mistake = "compares-prefix"
	releaseExpires      mistake = "release-expires"
	releaseOverwrites   mistake = "release-overwrites"
	releaseTakesAndPuts mistake = "release-takes-and-puts-back"
	watchesOtherKey     mistake = "watches-other-key"
	deletesAfterError   mistake = "deletes-after-error"
	releaseBlanks       mistake = "release-blanks"
	seededAlike         mistake = "seeded-alike"
	refusedRenews       mistake = "refused-renews"
	persistsFirst       mistake = "persists-first"
	ttlOfDeadline       mistake = "ttl-of-deadline"
	counterExpires      mistake = "counter-expires"
	keepsMutex          mistake = "keeps-mutex"
)

// foreignMutants lists mutants of the lock on a single node: copies with one of these mistakes
// each.
func foreignMutants() []Mutant {
	return []Mutant{
		onPlain(comparesPrefix, "release compares only the beginning of the value, which is equal for all", "release-ownership"),
		onPlain(releaseExpires, "release gives the key an expiry of a millisecond, and compares nothing", "release-ownership"),
		onPlain(releaseOverwrites, "release overwrites the key with one that expires at once", "release-ownership"),
		onPlain(releaseTakesAndPuts, "release takes the key by GETDEL, and puts it back if it was another's", "release-ownership"),
		onPlain(watchesOtherKey, "release removes the key in a transaction that watches another key", "release-ownership"),
		onPlain(deletesAfterError, "release deletes the key if the script that compares gave no answer", "release-ownership"),
		onPlain(releaseBlanks, "release empties the key's value and does not remove the key", "key left behind"),
		onPlain(seededAlike, "all processes seed their random numbers alike, so they use the same values", "release-ownership"),
		onPlain(refusedRenews, "an acquire that is refused gives the key a new expiry", "release-ownership"),
		onPlain(persistsFirst, "extend removes the key's expiry before it sets the new one", "progress"),
		onPlain(ttlOfDeadline, "the key lives only as long as the context of acquire", "lease-exclusion"),
		onPlain(counterExpires, "the counter of the fencing tokens expires with the lock", "token-order"),
		onPlain(keepsMutex, "an acquire that fails keeps the mutex of its process", "hang"),
	}
}

// onPlain returns the plain lock with the mistake m.
func onPlain(m mistake, description, rule string) Mutant {
	return Mutant{Name: "plain" + nameSuffix(m), Description: description, Nodes: 1, Tokens: true, ReportsLoss: true, Rule: rule,
		New: func(env *locks.Env) (locks.Lock, error) {
			p := &plain{oneNode: newOneNode(env, maker{m})}
			p.mutex = newMutex(env, maker{m})
			return p, nil
		}}
}

// plain is a lock on one node that tries once, with fencing tokens. Its leases can be extended, and
// its release reports whether the lock was lost.
type plain struct {
	oneNode
	count int           // how many values the handle has made, for seededAlike
	mutex chan struct{} // for keepsMutex; otherwise nil
}

type plainLease struct {
	*plain
	value string
	token uint64
	ending
	unlock func() // unlocks the mutex, if there is one
}

var (
	takeAndCountScript = redis.NewScript(`if redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) then
    local n = redis.call("incr",KEYS[2])
    if ARGV[3] == "1" then redis.call("pexpire",KEYS[2],ARGV[2]) end
    return n
end
return 0`)
	removePrefixScript = redis.NewScript(`local value = redis.call("get",KEYS[1])
if value and string.sub(value,1,5) == string.sub(ARGV[1],1,5) then
    return redis.call("del",KEYS[1])
end
return 0`)
	blankScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    redis.call("set",KEYS[1],"","KEEPTTL")
    return 1
end
return 0`)
	persistScript = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("persist",KEYS[1])
end
return 0`)
)

// newValue makes the value of an attempt.
func (p *plain) newValue() string {
	if p.hasMistake(seededAlike) {
		p.count++
		return "plain-" + strconv.Itoa(p.count*7919)
	}
	return "plain-" + newValue(p.env)
}

// Acquire makes one attempt.
func (p *plain) Acquire(ctx context.Context) (locks.Lease, error) {
	unlock := func() {}
	if p.mutex != nil {
		select {
		case p.mutex <- struct{}{}:
			unlock = sync.OnceFunc(func() { <-p.mutex })
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	start := p.now()
	l := &plainLease{plain: p, value: p.newValue(), ending: ending{end: start.Add(p.env.TTL)}, unlock: unlock}
	token, err := p.take(ctx, l.value)
	if err == nil && token > 0 && l.Expires().Sub(p.now()) > 0 {
		l.token = token
		return l, nil
	}
	if !p.hasMistake(keepsMutex) {
		unlock()
	}
	if err == nil && token == 0 {
		if p.hasMistake(refusedRenews) {
			_ = p.node.PExpire(ctx, p.key(), p.env.TTL).Err()
		}
		return nil, fmt.Errorf("%w: another client holds it", locks.ErrNotAcquired)
	}
	_, _ = l.remove(context.WithoutCancel(ctx))
	return nil, fmt.Errorf("%w: the node gave no answer in time", locks.ErrNotAcquired)
}

// take sets the key if it is free. It returns the grant's fencing token, or 0 if the key is not free.
func (p *plain) take(ctx context.Context, value string) (token uint64, err error) {
	ttl, expires := p.env.TTL, "0"
	if p.hasMistake(counterExpires) {
		expires = "1"
	}
	if deadline, ok := ctx.Deadline(); ok && p.hasMistake(ttlOfDeadline) {
		ttl = min(ttl, max(time.Until(deadline), time.Millisecond))
	}
	err = p.ask(ctx, func(ctx context.Context) error {
		n, err := takeAndCountScript.Run(ctx, p.node, []string{p.key(), p.key() + ":token"}, value, ttl.Milliseconds(), expires).Int64()
		token = uint64(n)
		return err
	})
	return token, err
}

// Token returns the fencing token.
func (l *plainLease) Token() uint64 { return l.token }

// Release removes the key.
func (l *plainLease) Release(ctx context.Context) error {
	defer l.unlock()
	return releaseError(l.remove(ctx))
}

// remove removes the key if it has the lease's value.
func (l *plainLease) remove(ctx context.Context) (removed bool, err error) {
	switch {
	case l.hasMistake(comparesPrefix):
		return l.run(ctx, removePrefixScript, l.value)
	case l.hasMistake(releaseBlanks):
		return l.run(ctx, blankScript, l.value)
	case l.hasMistake(deletesAfterError):
		removed, err = l.run(ctx, removeScript, l.value)
		if err != nil {
			n, err := l.node.Del(ctx, l.key()).Result()
			return n > 0, err
		}
		return removed, nil
	case !l.hasMistake(releaseExpires) && !l.hasMistake(releaseOverwrites) && !l.hasMistake(releaseTakesAndPuts) && !l.hasMistake(watchesOtherKey):
		return l.run(ctx, removeScript, l.value)
	}
	err = l.ask(ctx, func(ctx context.Context) (err error) {
		switch l.mistake {
		case releaseExpires:
			removed, err = l.node.PExpire(ctx, l.key(), time.Millisecond).Result()
		case releaseOverwrites:
			err = l.node.Set(ctx, l.key(), "", time.Millisecond).Err()
			removed = err == nil
		case releaseTakesAndPuts:
			value, getErr := l.node.GetDel(ctx, l.key()).Result()
			removed, err = value == l.value, getErr
			if err == nil && !removed {
				err = l.node.SetNX(ctx, l.key(), value, l.env.TTL).Err()
			}
		case watchesOtherKey:
			removed, err = l.removeWatching(ctx, "lock:"+l.key())
		}
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	})
	return removed, err
}

// removeWatching removes the key in a transaction that fails if the watched key changes.
func (l *plainLease) removeWatching(ctx context.Context, watched string) (removed bool, err error) {
	err = l.node.Watch(ctx, func(tx *redis.Tx) error {
		value, err := tx.Get(ctx, l.key()).Result()
		if err != nil || value != l.value {
			return err
		}
		var del *redis.IntCmd
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			del = p.Del(ctx, l.key())
			return nil
		})
		removed = err == nil && del.Val() > 0
		return err
	}, watched)
	return removed, err
}

// Extend gives the key a new TTL and the lease a new end.
func (l *plainLease) Extend(ctx context.Context) error {
	start, ttl := l.now(), l.env.TTL.Milliseconds()
	extended, err := false, error(nil)
	if l.hasMistake(persistsFirst) {
		if extended, err = l.run(ctx, persistScript, l.value); extended {
			extended, err = l.run(ctx, extendScript, l.value, ttl)
		}
	} else {
		extended, err = l.run(ctx, extendScript, l.value, ttl)
	}
	return l.finishExtend(start.Add(l.env.TTL), l.now(), extended, err)
}
