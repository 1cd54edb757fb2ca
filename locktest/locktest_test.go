package locktest_test

import (
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// constructorOf returns the constructor of a registered kind of lock.
func constructorOf(t *testing.T, name string) locktest.New {
	k, ok := locks.Lookup(name)
	if !ok {
		t.Fatalf("no lock is called %s", name)
	}
	return func(env *locktest.Env) (locks.Lock, error) { return k.New(env.Base()) }
}

// Redlock passes the suite on every seed. Package mutants has such tests of the other locks
// without a mistake.
func TestRedlock(t *testing.T) {
	config := locktest.Config{Nodes: 5, Extends: true, OwnClock: true, Seeds: 3, Sample: true}
	if testing.Short() {
		config.Seeds = 1
	}
	locktest.Run(t, config, constructorOf(t, "redlock"))
}
