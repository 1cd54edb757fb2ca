package locktest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// silent is a lock whose acquire returns no error if another client holds the lock.
type silent struct {
	locks.Lock
	// typed means that acquire then returns a nil pointer as the lease, and not a nil interface.
	typed bool
}

// leasePointer is a lease whose methods fail for a nil pointer.
type leasePointer struct{ locks.Lease }

func (s silent) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := s.Lock.Acquire(ctx)
	switch {
	case errors.Is(err, locks.ErrNotAcquired) && s.typed:
		return (*leasePointer)(nil), nil
	case errors.Is(err, locks.ErrNotAcquired):
		return nil, nil
	}
	return lease, err
}

// An acquire that returns neither a lease nor an error is reported as that, in each test
// case in which it happens, and not as a panic.
func TestAcquireWithoutLeaseAndError(t *testing.T) {
	const want = "acquire returns neither a lease nor an error"
	for name, typed := range map[string]bool{"nil": false, "a nil pointer": true} {
		t.Run(name, func(t *testing.T) {
			single := constructorOf(t, "single")
			config := locktest.Config{Stories: func(name string) bool {
				return name == "claims/lease" || name == "undisturbed" || name == "catalogue/gc-pause" || name == "handles"
			}}
			failed := 0
			for f := range locktest.Survey(t, config, func(env *locktest.Env) (locks.Lock, error) {
				lock, err := single(env)
				return silent{lock, typed}, err
			}) {
				for _, p := range f.Problems {
					failed++
					if p.Mistake != want || p.Remedy == "" {
						t.Errorf("%s: the mistake is %q with the remedy %q, want the mistake %q", f.TestCase, p.Mistake, p.Remedy, want)
					}
				}
			}
			if failed < 2 {
				t.Errorf("%d test cases report it, want at least two", failed)
			}
		})
	}
}
