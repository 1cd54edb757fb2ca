package locktest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
)

// storedEnd is a lock whose key never expires: its value says when the lease ends. A free
// key is taken by SET NX. A waiter that sees that the lease has ended takes the key over.
type storedEnd struct {
	env *Env
	// pause returns how long a waiter sleeps before it looks again; nil means that acquire
	// looks once.
	pause func() time.Duration
	// compares means that a waiter takes the key over only if the value is still the one
	// that it has seen. Otherwise two waiters that look at the same time both get the lock.
	compares bool
}

type storedEndLease struct {
	storedEnd
	value string
	end   time.Time
}

func (l storedEnd) Acquire(ctx context.Context) (locks.Lease, error) {
	for {
		own := storedEndLease{storedEnd: l, end: time.Now().Add(l.env.TTL())}
		own.value = fmt.Sprintf("%d %s", own.end.UnixNano(), rand.Text())
		taken, err := own.take(ctx)
		switch {
		case err == nil && taken && time.Now().Before(own.end):
			return own, nil
		case err != nil || taken:
			cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.env.TTL())
			defer cancel()
			_ = own.Release(cleanUp)
			return nil, errors.Join(locks.ErrNotAcquired, err)
		case l.pause == nil || ctx.Err() != nil:
			return nil, locks.ErrNotAcquired
		}
		time.Sleep(l.pause())
	}
}

var replaceIfSame = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("set",KEYS[1],ARGV[2]) and 1 end return 0`)

// take makes one attempt to set the key.
func (l storedEndLease) take(ctx context.Context) (bool, error) {
	node, key := l.env.Redis(0), l.env.Key()
	if taken, err := node.SetNX(ctx, key, l.value, 0).Result(); err != nil || taken {
		return taken, err
	}
	old, err := node.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	var end int64
	if _, parseErr := fmt.Sscan(old, &end); err != nil || parseErr != nil || time.Now().UnixNano() < end {
		return false, err
	}
	if !l.compares {
		return true, node.Set(ctx, key, l.value, 0).Err()
	}
	n, err := replaceIfSame.Run(ctx, node, []string{key}, old, l.value).Int()
	return n > 0, err
}

func (l storedEndLease) Expires() time.Time { return l.end }

func (l storedEndLease) Release(ctx context.Context) error {
	return removeIfOwn.Run(ctx, l.env.Redis(0), []string{l.env.Key()}, l.value).Err()
}

// When a lease has expired, the suite finds that two waiters get the lock, whether clients
// call acquire again and again, or acquire waits for regular or random times. A waiter that
// compares in the same step passes.
func TestWaiters(t *testing.T) {
	regular := func() time.Duration { return ttl / 200 }
	random := func() time.Duration {
		var b [1]byte
		_, _ = rand.Read(b[:])
		return time.Duration(b[0]) * ttl / 10_000
	}
	for _, l := range []struct {
		name     string
		pause    func() time.Duration
		compares bool
	}{
		{"acquire looks once", nil, false},
		{"acquire looks at regular times", regular, false},
		{"acquire looks at random times", random, false},
		{"acquire looks once, and compares", nil, true},
		{"acquire looks at regular times, and compares", regular, true},
		{"acquire looks at random times, and compares", random, true},
	} {
		s, err := newSubject("Test", Config{}, func(env *Env) (locks.Lock, error) { return storedEnd{env, l.pause, l.compares}, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"waiters/expired", "waiters/released"} {
			st, ok := findTestCase(name)
			if !ok {
				t.Fatalf("there is no test case %s", name)
			}
			o, _ := s.runTestCase(st, order{TestCase: name, Seeds: 1}, func(address) {})
			var titles []string
			for _, c := range o.Causes {
				titles = append(titles, c.title())
			}
			got, want := strings.Join(titles, "; "), ""
			if !l.compares && name == "waiters/expired" {
				want = "acquire reads the key and then sends a second command, and the key has changed in between"
			}
			if got != want {
				t.Errorf("%s, %s: got %q in %d of %d worlds, want %q", l.name, name, got, o.Failed, o.Worlds, want)
			}
		}
	}
}
