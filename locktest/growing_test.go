package locktest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// growing is a lock whose lease declares a later end although extend failed.
type growing struct {
	locks.Lock
	env *locktest.Env
}

func (g growing) Acquire(ctx context.Context) (locks.Lease, error) {
	end := g.env.Clock().Read(fakeclock.Monotonic).Add(g.env.TTL())
	lease, err := g.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &growingLease{lease, g, end}, nil
}

type growingLease struct {
	locks.Lease
	lock growing
	end  fakeclock.Reading
}

func (l *growingLease) Expires() fakeclock.Reading { return l.end }

func (l *growingLease) Extend(ctx context.Context) error {
	l.end = l.lock.env.Clock().Read(fakeclock.Monotonic).Add(l.lock.env.TTL())
	return l.Lease.(locks.Extender).Extend(ctx)
}

// A lease must not declare a later end if extend failed.
func TestEndGrowsAlthoughExtendFailed(t *testing.T) {
	single := constructorOf(t, "single")
	config := locktest.Config{Extends: true, Stories: func(name string) bool { return name == "loss/extend" }}
	for f := range locktest.Survey(t, config, func(env *locktest.Env) (locks.Lock, error) {
		lock, err := single(env)
		return growing{lock, env}, err
	}) {
		if len(f.Problems) != 1 || !strings.Contains(f.Problems[0].Why, "extend failed, and yet Expires then returned an end that is ") {
			t.Errorf("the problems are %+v", f.Problems)
		}
	}
}
