package locktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
)

// insisting is a lock that repeats its SET NX after an error, with the same value. So its
// own key can refuse it. If waitsForLock is set, its acquire repeats until it has acquired
// the lock. If checksOwnKey is set, it checks whether the key that refuses it is its own.
type insisting struct {
	env                        *Env
	waitsForLock, checksOwnKey bool
}

func (l insisting) Acquire(ctx context.Context) (locks.Lease, error) {
	lease := roundingLease{rounding{env: l.env}, l.env.Client() + "/" + time.Now().String()}
	node := l.env.Redis(0)
	for {
		err := node.Do(ctx, "SET", l.env.Key(), lease.value, "NX", "PX", l.env.TTL().Milliseconds()).Err()
		if err != nil && !errors.Is(err, redis.Nil) && ctx.Err() == nil {
			if !l.waitsForLock {
				err = node.Do(ctx, "SET", l.env.Key(), lease.value, "NX", "PX", l.env.TTL().Milliseconds()).Err()
			}
		}
		if errors.Is(err, redis.Nil) && l.checksOwnKey && node.Get(ctx, l.env.Key()).Val() == lease.value {
			err = nil
		}
		switch {
		case err == nil:
			return lease, nil
		case ctx.Err() != nil || !l.waitsForLock:
			return nil, locks.ErrNotAcquired
		}
		time.Sleep(l.env.TTL() / 100)
	}
}

// The suite detects a lock that is refused by its own key. It does so if acquire fails, and
// also if acquire waits until the key has expired. A lock that recognizes its own key
// passes.
func TestOwnKey(t *testing.T) {
	for _, l := range []struct {
		name                       string
		waitsForLock, checksOwnKey bool
		want                       bool // whether the suite reports that the lock's own key is in the way
	}{
		{"acquire fails, and does not check whose key it is", false, false, true},
		{"acquire waits, and does not check whose key it is", true, false, true},
		{"acquire does not wait, and recognizes its own key", false, true, false},
		{"acquire waits, and recognizes its own key", true, true, false},
	} {
		s, err := newSubject("Test", Config{}, func(env *Env) (locks.Lock, error) { return insisting{env, l.waitsForLock, l.checksOwnKey}, nil })
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, name := range []string{undisturbedName, "lost-request/acquire", "lost-reply/acquire", "late-reply/acquire", "errors/acquire"} {
			st, ok := findTestCase(name)
			if !ok {
				t.Fatalf("there is no test case %s", name)
			}
			o, _ := s.runTestCase(st, order{TestCase: name, Seeds: 1}, func(address) {})
			for _, p := range o.Problems {
				if p.Rule == checks.OwnKeyInTheWay {
					got = true
					if !l.want || name != "lost-reply/acquire" && name != "late-reply/acquire" {
						t.Errorf("%s: unexpected problem in %s: %s", l.name, p.Address, p)
					}
				}
			}
		}
		if got != l.want {
			t.Errorf("%s: the suite reports %q: %v, want %v", l.name, checks.OwnKeyInTheWay, got, l.want)
		}
	}
}
