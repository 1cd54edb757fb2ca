package locktest_test

import (
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

func kind(t *testing.T, name string) locktest.New {
	k, ok := locks.Lookup(name)
	if !ok {
		t.Fatalf("no lock is called %s", name)
	}
	return func(env *locktest.Env) (locks.Lock, error) { return k.New(env.Base()) }
}

func TestRedlock(t *testing.T) {
	locktest.Run(t, locktest.Config{Nodes: 5, Extends: true, OwnClock: true}, kind(t, "redlock"))
}
